# cmake -DINPUT=file -DOUTPUT=file.cc -DHEADER=path -DNAMESPACE=name -DSYMBOL=name -P EmbedText.cmake
# Writes a source that defines `const char NAMESPACE::SYMBOL[]`, which HEADER declares, as the file's text.
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"

namespace ${NAMESPACE} {

const char ${SYMBOL}[] = R\"tensord~(${text})tensord~\";

}  // namespace ${NAMESPACE}
")
