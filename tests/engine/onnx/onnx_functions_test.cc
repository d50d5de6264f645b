#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/graph/graph_builder.h"
#include "engine/limit_exceeded.h"
#include "tests/engine/onnx/model_text.h"

// Functions that a model defines itself, put where they are called.

namespace tensord {
namespace {

using onnx::FunctionProto;
using onnx::ModelProto;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// x = [1, 2], and a graph whose nodes are `nodes`, with output y.
std::string GraphOf(const std::string& nodes) {
  return absl::StrCat(R"pb(
                        graph { initializer {
                          name: "x"
                          data_type: 1
                          dims: 2
                          float_data: [ 1, 2 ]
                        }
                                output { name: "y" }
                      )pb",
                      nodes, "}");
}

// A call of my.F.
std::string Call(const std::string& rest) {
  return absl::StrCat(R"pb(node { op_type: "F" domain: "my")pb", rest, "}");
}

std::string Function(const std::string& rest) {
  return absl::StrCat(R"pb(functions { domain: "my"
                                       opset_import { version: 17 })pb",
                      rest, "}");
}

// F(a, b) = a * b + a
const char kMulAdd[] = R"pb(
  name: "F"
  input: [ "a", "b" ]
  output: "c"
  node {
    op_type: "Mul"
    input: [ "a", "b" ]
    output: "t"
    name: "times"
  }
  node {
    op_type: "Add"
    input: [ "t", "a" ]
    output: "c"
  }
)pb";

TEST(OnnxFunctionsTest, ACallBecomesTheFunctionsNodes) {
  const absl::StatusOr<GraphDef> def =
      ReadText(GraphOf(Call(R"pb(input: [ "x", "x" ]
                                 output: "y"
                                 name: "call")pb")) +
               Function(kMulAdd));
  ASSERT_TRUE(def.ok()) << def.status();
  EXPECT_EQ(NodesOf(*def), "Mul(x, x) -> fn0.0/t; Add(fn0.0/t, x) -> y");
  EXPECT_EQ(def->nodes[0].name, "call/times");
  EXPECT_EQ(def->nodes[1].name, "call/Add_1");
}

TEST(OnnxFunctionsTest, CallsKeepTheirValuesApart) {
  // (x*x + x) = [2, 6]; 2*x = [2, 4] -> F = [2*2+2, 6*4+6]
  EXPECT_THAT(ValueOf(GraphOf(Call(R"pb(input: [ "x", "x" ]
                                        output: "u")pb") +
                              R"pb(node {
                                     op_type: "Add"
                                     input: [ "x", "x" ]
                                     output: "v"
                                   })pb" +
                              Call(R"pb(input: [ "u", "v" ]
                                        output: "y")pb")) +
                      Function(kMulAdd))
                  .values<float>(),
              ElementsAre(6, 30));
}

TEST(OnnxFunctionsTest, FunctionsMayCallFunctionsOfAnyDomain) {
  // G(a) = F(a, F(a, a)): x * (x*x + x) + x = [3, 14]
  EXPECT_THAT(ValueOf(GraphOf(R"pb(node {
                                     op_type: "G"
                                     domain: "other"
                                     input: "x"
                                     output: "y"
                                   })pb") +
                      Function(kMulAdd) +
                      R"pb(functions {
                             domain: "other"
                             name: "G"
                             input: "a"
                             output: "c"
                             opset_import { domain: "my" version: 1 }
                             node {
                               op_type: "F"
                               domain: "my"
                               input: [ "a", "t" ]
                               output: "c"
                             }
                             node {
                               op_type: "F"
                               domain: "my"
                               input: [ "a", "a" ]
                               output: "t"
                             }
                           })pb")
                  .values<float>(),
              ElementsAre(3, 14));
}

TEST(OnnxFunctionsTest, AFunctionMayTakeTheNameOfAnOperator) {
  const std::string function = R"pb(
    name: "Relu"
    opset_import { version: 17 }
    input: "a"
    output: "b"
    node { op_type: "Neg" input: "a" output: "b" }
  )pb";
  const std::string call =
      R"pb(node { op_type: "Relu" input: "x" output: "y" })pb";
  EXPECT_THAT(
      ValueOf(GraphOf(call) + "functions {" + function + "}").values<float>(),
      ElementsAre(-1, -2));
  // "ai.onnx" is another name of the same domain.
  EXPECT_THAT(ValueOf(GraphOf(call) + "functions { domain: \"ai.onnx\"" +
                      function + "}")
                  .values<float>(),
              ElementsAre(-1, -2));
}

TEST(OnnxFunctionsTest, OverloadsAreFunctionsOfTheirOwn) {
  const auto overload = [](const char* name, const char* op) {
    return Function(
        absl::StrCat("name: \"F\" overload: \"", name,
                     "\" input: \"a\" output: \"b\" node { op_type: "
                     "\"",
                     op, "\" input: \"a\" output: \"b\" }"));
  };
  const std::string functions =
      overload("", "Exp") + overload("neg", "Neg") + overload("pos", "Abs");
  EXPECT_THAT(
      ValueOf(GraphOf(Call(R"pb(overload: "neg" input: "x" output: "y")pb")) +
              functions)
          .values<float>(),
      ElementsAre(-1, -2));
  EXPECT_THAT(
      RefusalOf(GraphOf(Call(R"pb(overload: "no" input: "x" output: "y")pb")) +
                functions),
      HasSubstr("overload 'no': the model has no such function"));
  EXPECT_THAT(RefusalOf(GraphOf(Call(R"pb(input: "x" output: "y")pb")) +
                        overload("neg", "Neg") + overload("neg", "Exp")),
              StartsWith("function 'F' of domain 'my', overload 'neg': defined "
                         "twice"));
}

// F(a) = LeakyRelu(a, alpha = slope)
std::string Leaky(const std::string& attributes) {
  return Function(absl::StrCat(
      R"pb(
        name: "F"
        input: "a"
        output: "b"
        node {
          op_type: "LeakyRelu"
          input: "a"
          output: "b"
          attribute { name: "alpha" type: FLOAT ref_attr_name: "slope" }
        }
      )pb",
      attributes));
}
const char kNegated[] = R"pb(node { op_type: "Neg" input: "x" output: "n" })pb";

TEST(OnnxFunctionsTest, AttributesAreGivenByReference) {
  const std::string given =
      GraphOf(kNegated +
              Call(R"pb(input: "n"
                        output: "y"
                        attribute { name: "slope" type: FLOAT f: 0.5 })pb"));
  EXPECT_THAT(
      ValueOf(given + Leaky(R"pb(attribute: "slope")pb")).values<float>(),
      ElementsAre(-0.5f, -1));
  const std::string absent =
      GraphOf(kNegated + Call(R"pb(input: "n" output: "y")pb"));
  // Without a default there, the operator's own: 0.01.
  EXPECT_THAT(
      ValueOf(absent + Leaky(R"pb(attribute: "slope")pb")).values<float>(),
      ElementsAre(-0.01f, -0.02f));
  const std::string with_default =
      Leaky(R"pb(attribute_proto { name: "slope" type: FLOAT f: 0.25 })pb");
  EXPECT_THAT(ValueOf(absent + with_default).values<float>(),
              ElementsAre(-0.25f, -0.5f));
  EXPECT_THAT(ValueOf(given + with_default).values<float>(),
              ElementsAre(-0.5f, -1));
}

TEST(OnnxFunctionsTest, AttributesArePassedOn) {
  // F calls G with slope = its own.
  EXPECT_THAT(ValueOf(GraphOf(kNegated + Call(R"pb(input: "n"
                                                   output: "y"
                                                   attribute {
                                                     name: "s"
                                                     type: FLOAT
                                                     f: 3
                                                   })pb")) +
                      Function(R"pb(
                        name: "F"
                        input: "a"
                        output: "b"
                        attribute: "s"
                        node {
                          op_type: "G"
                          domain: "my"
                          input: "a"
                          output: "b"
                          attribute { name: "t" ref_attr_name: "s" }
                        })pb") +
                      Function(R"pb(
                        name: "G"
                        input: "a"
                        output: "b"
                        attribute: "t"
                        node {
                          op_type: "LeakyRelu"
                          input: "a"
                          output: "b"
                          attribute { name: "alpha" ref_attr_name: "t" }
                        })pb"))
                  .values<float>(),
              ElementsAre(-3, -6));
}

TEST(OnnxFunctionsTest, WrongAttributesAreRefusedByName) {
  const std::string absent =
      GraphOf(kNegated + Call(R"pb(input: "n" output: "y" name: "c")pb"));
  EXPECT_THAT(RefusalOf(absent + Leaky(R"pb(attribute: "other")pb")),
              HasSubstr("attribute 'alpha': refers to attribute 'slope', which "
                        "function 'F' of domain 'my' does not declare"));
  EXPECT_THAT(
      RefusalOf(absent + Leaky(R"pb(attribute_proto {
                                      name: "slope"
                                      type: INT
                                      i: 1
                                    })pb")),
      HasSubstr("refers to an attribute of type int as one of type FLOAT"));
  EXPECT_THAT(
      RefusalOf(absent + Leaky(R"pb(attribute: [ "slope", "slope" ])pb")),
      HasSubstr("attribute 'slope' is declared twice"));
  EXPECT_THAT(
      RefusalOf(GraphOf(Call(R"pb(input: "x"
                                  output: "y"
                                  attribute { name: "beta" i: 1 })pb")) +
                Leaky(R"pb(attribute: "slope")pb")),
      HasSubstr("attribute 'beta' is not declared by function 'F'"));
  EXPECT_THAT(RefusalOf(absent + Leaky(R"pb(attribute_proto {
                                              name: "slope"
                                              g { name: "g" }
                                            })pb")),
              HasSubstr("attribute 'slope': its default is a graph"));
  EXPECT_THAT(
      RefusalOf(GraphOf(Call(R"pb(input: "x"
                                  output: "y"
                                  attribute {
                                    name: "slope"
                                    g { name: "g" }
                                  })pb")) +
                Leaky(R"pb(attribute: "slope")pb")),
      HasSubstr("a graph as an argument of a function is not supported"));
}

TEST(OnnxFunctionsTest, AbsentInputsStayAbsent) {
  // F(a, low, high) = Clip(a, low, high)
  const std::string clip = Function(R"pb(
    name: "F"
    input: [ "a", "low", "high" ]
    output: "b"
    node {
      op_type: "Clip"
      input: [ "a", "low", "high" ]
      output: "b"
    }
  )pb");
  const std::string one = R"pb(node {
                                 op_type: "Constant"
                                 output: "one"
                                 attribute { name: "value_float" f: 1 }
                               })pb";
  EXPECT_THAT(ValueOf(GraphOf(one + Call(R"pb(input: [ "x", "", "one" ]
                                              output: "y")pb")) +
                      clip)
                  .values<float>(),
              ElementsAre(1, 1));
  EXPECT_THAT(ValueOf(GraphOf(Call(R"pb(input: "x" output: "y")pb")) + clip)
                  .values<float>(),
              ElementsAre(1, 2));
  EXPECT_THAT(
      RefusalOf(GraphOf(Call(R"pb(input: [ "", "x" ]
                                  output: "y"
                                  name: "c")pb")) +
                clip),
      HasSubstr("node 'c/Clip_0' (Clip): input 0 is required and absent"));
  EXPECT_THAT(
      RefusalOf(GraphOf(Call(R"pb(input: [ "x", "", "", "" ]
                                  output: "y")pb")) +
                clip),
      HasSubstr("4 inputs and 1 outputs, where function 'F' of domain 'my' has "
                "3 and 1"));
}

TEST(OnnxFunctionsTest, OutputsMayBeLeftOutOrHandAnInputOn) {
  const std::string function = Function(R"pb(
    name: "F"
    input: "a"
    output: [ "n", "a" ]
    node { op_type: "Neg" input: "a" output: "n" }
  )pb");
  const absl::StatusOr<GraphDef> def =
      ReadText(GraphOf(Call(R"pb(input: "x"
                                 output: [ "", "y" ])pb")) +
               function);
  ASSERT_TRUE(def.ok()) << def.status();
  EXPECT_EQ(NodesOf(*def), "Identity(x) -> y; Neg(x) -> fn0.0/n");
  EXPECT_THAT(ValueOf(GraphOf(Call(R"pb(input: "x"
                                        output: [ "y", "z" ])pb")) +
                      function)
                  .values<float>(),
              ElementsAre(-1, -2));
}

TEST(OnnxFunctionsTest, FunctionsSeeOnlyTheirOwnValues) {
  EXPECT_THAT(
      RefusalOf(GraphOf(Call(R"pb(input: "x" output: "y" name: "c")pb")) +
                Function(R"pb(
                  name: "F"
                  input: "a"
                  output: "b"
                  node {
                    op_type: "Add"
                    input: [ "a", "x" ]
                    output: "b"
                  }
                )pb")),
      "node 'c/Add_0' (Add): value 'x' is not defined in function 'F' of "
      "domain 'my'");
}

TEST(OnnxFunctionsTest, NewNamesAreNobodysElse) {
  const absl::StatusOr<GraphDef> def = ReadText(
      GraphOf(R"pb(node { op_type: "Neg" input: "x" output: "fn0.0/t" })pb" +
              Call(R"pb(input: [ "x", "fn0.0/t" ]
                        output: "y")pb")) +
      Function(kMulAdd));
  ASSERT_TRUE(def.ok()) << def.status();
  EXPECT_EQ(NodesOf(*def),
            "Neg(x) -> fn0.0/t; Mul(x, fn0.0/t) -> fn1.0/t; "
            "Add(fn1.0/t, x) -> y");
}

TEST(OnnxFunctionsTest, BodiesInFunctionsSeeTheFunctionsValues) {
  // F(a, c) = c ? a + t : t, with t = -a. The branches call a value "x", which
  // is also the name of what the caller gives.
  const absl::StatusOr<GraphDef> def = ReadText(
      R"pb(graph {
             input {
               name: "x"
               type { tensor_type { elem_type: 1 } }
             }
             input {
               name: "c"
               type { tensor_type { elem_type: 9 } }
             }
             output { name: "y" }
             node {
               op_type: "F"
               domain: "my"
               input: [ "x", "c" ]
               output: "y"
             }
           })pb" +
      Function(R"pb(
        name: "F"
        input: [ "a", "c" ]
        output: "r"
        node { op_type: "Neg" input: "a" output: "t" }
        node {
          op_type: "If"
          input: "c"
          output: "r"
          attribute {
            name: "then_branch"
            g {
              node {
                op_type: "Add"
                input: [ "a", "t" ]
                output: "x"
              }
              output { name: "x" }
            }
          }
          attribute {
            name: "else_branch"
            g {
              node { op_type: "Identity" input: "t" output: "x" }
              output { name: "x" }
            }
          }
        })pb"));
  ASSERT_TRUE(def.ok()) << def.status();
  EXPECT_EQ(NodesOf(*def), "Neg(x) -> fn0.0/t; If(c) -> y");
  const auto& then_branch = *std::get<std::shared_ptr<const GraphDef>>(
      *def->nodes[1].attributes.Find("then_branch"));
  EXPECT_EQ(NodesOf(then_branch), "Add(x, fn0.0/t) -> fn0.1/x");
  EXPECT_EQ(then_branch.outputs[0].name, "fn0.1/x");
  EXPECT_TRUE(BuildGraph(*def, GraphLimits()).ok());
}

TEST(OnnxFunctionsTest, CallsInBodiesAreExpandedThere) {
  const absl::StatusOr<GraphDef> def = ReadText(
      R"pb(graph {
             input {
               name: "x"
               type { tensor_type { elem_type: 1 } }
             }
             input {
               name: "c"
               type { tensor_type { elem_type: 9 } }
             }
             output { name: "y" }
             node {
               op_type: "If"
               input: "c"
               output: "y"
               attribute {
                 name: "then_branch"
                 g {
                   node {
                     op_type: "F"
                     domain: "my"
                     input: [ "x", "x" ]
                     output: "u"
                   }
                   output { name: "u" }
                 }
               }
               attribute {
                 name: "else_branch"
                 g {
                   node { op_type: "Neg" input: "x" output: "u" }
                   output { name: "u" }
                 }
               }
             }
           })pb" +
      Function(kMulAdd));
  ASSERT_TRUE(def.ok()) << def.status();
  EXPECT_EQ(NodesOf(*std::get<std::shared_ptr<const GraphDef>>(
                *def->nodes[0].attributes.Find("then_branch"))),
            "Mul(x, x) -> fn0.0/t; Add(fn0.0/t, x) -> u");
  EXPECT_TRUE(BuildGraph(*def, GraphLimits()).ok());
}

TEST(OnnxFunctionsTest, AFunctionMeansItsOwnOperatorSet) {
  // Squeeze has its axes as an attribute up to version 12, the model's is 17.
  const auto function = [](int version) {
    return absl::StrCat(
        "functions { domain: \"my\" name: \"F\" input: \"a\" output: \"b\" "
        "opset_import { version: ",
        version, "}",
        R"pb(                                                    node {
               op_type: "Squeeze"
               input: "a"
               output: "b"
               attribute { name: "axes" ints: [ 0 ] }
             }
           })pb");
  };
  const std::string graph = R"pb(
    graph {
      initializer {
        name: "x"
        data_type: 1
        dims: [ 1, 1 ]
        float_data: 5
      }
      output { name: "y" }
      node { op_type: "F" domain: "my" input: "x" output: "y" name: "c" }
    })pb";
  EXPECT_EQ(ValueOf(graph + function(12)).shape(), Shape({1}));
  EXPECT_EQ(ValueOf(graph + function(5)).shape(), Shape({1}));
  EXPECT_THAT(RefusalOf(graph + function(17)),
              HasSubstr("unknown attribute 'axes' in operator set 17"));
  EXPECT_THAT(RefusalOf(graph + function(99)),
              HasSubstr("node 'c/Squeeze_0' (Squeeze): operator set version 99 "
                        "is outside"));
  EXPECT_THAT(RefusalOf(graph + function(0)), HasSubstr("below 1"));
}

TEST(OnnxFunctionsTest, AnOperatorSetThatIsNotImportedIsMissedWhereItIsUsed) {
  const std::string call = R"pb(
                             opset_import { domain: "my" version: 1 }
                           )pb" +
                           GraphOf(Call(R"pb(input: [ "x", "x" ]
                                             output: "y"
                                             name: "c")pb"));
  // The model has no node of ONNX's own; only the function has.
  EXPECT_EQ(RefusalOf(call + Function(kMulAdd)), "");
  EXPECT_THAT(RefusalOf(call + "functions { domain: \"my\"" + kMulAdd + "}"),
              "node 'c/times' (Mul): function 'F' of domain 'my' imports no "
              "version of ONNX's operator set");
}

TEST(OnnxFunctionsTest, FunctionsThatContradictThemselvesAreRefused) {
  const std::string graph = GraphOf(Call(R"pb(input: "x" output: "y")pb"));
  const auto refusal = [&](const std::string& function) {
    return RefusalOf(graph + Function(function));
  };
  EXPECT_THAT(refusal(R"pb(name: "F"
                           input: [ "a", "a" ])pb"),
              HasSubstr("input 'a' is declared twice"));
  EXPECT_THAT(refusal(R"pb(name: "F" input: "")pb"),
              HasSubstr("an input has no name"));
  EXPECT_THAT(refusal(R"pb(name: "F" input: "a" output: "b")pb"),
              HasSubstr("output 'b' is made by none of its nodes"));
  EXPECT_THAT(refusal(R"pb(name: "F"
                           input: "a"
                           output: [ "a", "a" ])pb"),
              HasSubstr("output 'a' is declared twice"));
  EXPECT_THAT(refusal(R"pb(
                name: "F"
                input: "a"
                node { op_type: "Neg" input: "a" output: "a" }
              )pb"),
              HasSubstr("value 'a' is defined twice"));
  EXPECT_THAT(refusal(""), HasSubstr("function 0 has no name"));
  EXPECT_THAT(RefusalOf(graph + Function(kMulAdd) + Function(kMulAdd)),
              "function 'F' of domain 'my': defined twice");
  EXPECT_THAT(RefusalOf(graph + Function(absl::StrCat(
                                    kMulAdd, "opset_import { version: 16 }"))),
              HasSubstr("imports operator set versions 17 and 16"));
}

TEST(OnnxFunctionsTest,
     OperatorsOfOtherDomainsAreKnownWhenTheModelDefinesThem) {
  const std::string graph = GraphOf(
      R"pb(node {
             op_type: "Binarizer"
             domain: "ai.onnx.ml"
             input: "x"
             output: "y"
           })pb");
  EXPECT_THAT(RefusalOf(graph),
              HasSubstr("operator 'Binarizer' of domain 'ai.onnx.ml'"));
  EXPECT_EQ(
      RefusalOf(graph + R"pb(functions {
                               domain: "ai.onnx.ml"
                               name: "Binarizer"
                               input: "a"
                               output: "b"
                               opset_import { version: 17 }
                               node { op_type: "Neg" input: "a" output: "b" }
                             })pb"),
      "");
}

// F0 calls F1 `calls` times in a row, and so on; the last one negates. Calls of
// `outputs` outputs.
ModelProto Chain(int depth, int calls) {
  ModelProto model = ModelFromText(GraphOf(
      R"pb(node { op_type: "F0" domain: "my" input: "x" output: "y" })pb"));
  for (int i = 0; i < depth; ++i) {
    FunctionProto& function = *model.add_functions();
    function.set_name(absl::StrCat("F", i));
    function.set_domain("my");
    function.add_opset_import()->set_version(17);
    function.add_input("v0");
    function.add_output(absl::StrCat("v", calls));
    for (int call = 0; call < calls; ++call) {
      onnx::NodeProto& node = *function.add_node();
      const bool is_last = i == depth - 1;
      node.set_op_type(is_last ? "Neg" : absl::StrCat("F", i + 1));
      node.set_domain(is_last ? "" : "my");
      node.add_input(absl::StrCat("v", call));
      node.add_output(absl::StrCat("v", call + 1));
    }
  }
  return model;
}

TEST(OnnxFunctionsTest, ADeepChainIsExpandedToTheLimitAndRefusedPastIt) {
  EXPECT_THAT(ValueOf(Chain(63, 1)).values<float>(), ElementsAre(-1, -2));
  const absl::Status status = ReadModel(Chain(3'000, 1)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "graph with its functions expanded has 3000 levels of functions "
            "that call functions; the limit max_function_depth is 64 "
            "(--max-function-depth)");
  const std::optional<LimitDetails> details = LimitDetails::FromStatus(status);
  ASSERT_TRUE(details.has_value());
  EXPECT_EQ(details->limit, "max_function_depth");
  // Depth costs no call stack where an operator allows it.
  GraphLimits limits;
  limits.max_function_depth = 10'000;
  EXPECT_TRUE(ReadModel(Chain(10'000, 1), limits).ok());
}

TEST(OnnxFunctionsTest, NodesAreCountedBeforeAnyIsMade) {
  const absl::Status status = ReadModel(Chain(40, 2)).status();  // 2^40
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "graph with its functions expanded has 2199023255551 nodes; the "
            "limit max_nodes is 100000 (--max-nodes)");
  // Past what 64 bits count.
  EXPECT_EQ(ReadModel(Chain(63, 8)).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(ReadModel(Chain(15, 2)).ok());
}

TEST(OnnxFunctionsTest, FunctionsWithoutNodesAreNoWayAroundTheCount) {
  ModelProto model = Chain(40, 2);
  FunctionProto& last = *model.mutable_functions(39);
  last.clear_node();
  last.clear_output();
  last.add_output("v0");
  EXPECT_EQ(ReadModel(model).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(OnnxFunctionsTest, OperandsThatCallsLeaveOutCountAsWell) {
  ModelProto model = Chain(1, 1);
  for (int i = 0; i < 1'000; ++i) {
    model.mutable_functions(0)->add_input(absl::StrCat("unused", i));
  }
  for (int i = 0; i < 2'000; ++i) {
    onnx::NodeProto& node = *model.mutable_graph()->add_node();
    node = model.graph().node(0);
    node.set_output(0, absl::StrCat("y", i));
  }
  const absl::Status status = ReadModel(model).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("max_operands"));
}

TEST(OnnxFunctionsTest, CopiesOfLongAttributesAreLimited) {
  ModelProto model = Chain(1, 1);
  onnx::AttributeProto& attribute =
      *model.mutable_functions(0)->mutable_node(0)->add_attribute();
  attribute.set_name("long");
  for (int i = 0; i < 100'000; ++i) attribute.add_ints(i);
  for (int i = 0; i < 1'000; ++i) {
    onnx::NodeProto& node = *model.mutable_graph()->add_node();
    node = model.graph().node(0);
    node.set_output(0, absl::StrCat("y", i));
  }
  const absl::Status status = ReadModel(model).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("more than 268435456 bytes of names and attributes"));
}

TEST(OnnxFunctionsTest, TensorsOfAFunctionAreSharedByItsCalls) {
  const absl::StatusOr<GraphDef> def =
      ReadText(GraphOf(Call(R"pb(input: "x" output: "u")pb") +
                       Call(R"pb(input: "u" output: "y")pb")) +
               Function(R"pb(
                 name: "F"
                 input: "a"
                 output: "b"
                 node {
                   op_type: "Constant"
                   output: "w"
                   attribute {
                     name: "value"
                     t { data_type: 1 float_data: 3 }
                   }
                 }
                 node {
                   op_type: "Mul"
                   input: [ "a", "w" ]
                   output: "b"
                 })pb"));
  ASSERT_TRUE(def.ok()) << def.status();
  EXPECT_EQ(def->nodes[0].attributes.Tensor("value")->bytes().data(),
            def->nodes[2].attributes.Tensor("value")->bytes().data());
}

TEST(OnnxFunctionsTest, CyclesAreRefusedCalledOrNot) {
  ModelProto model = Chain(3, 1);
  model.mutable_functions(2)->mutable_node(0)->set_op_type("F0");
  model.mutable_functions(2)->mutable_node(0)->set_domain("my");
  EXPECT_EQ(ReadModel(model).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RefusalOf(model),
            "function 'F0' of domain 'my': calls itself, by way of function "
            "'F2' of domain 'my'");
  model.mutable_graph()->mutable_node(0)->set_op_type("Neg");
  model.mutable_graph()->mutable_node(0)->set_domain("");
  EXPECT_THAT(RefusalOf(model), HasSubstr("calls itself"));
  model = Chain(1, 1);
  model.mutable_functions(0)->mutable_node(0)->set_op_type("F0");
  model.mutable_functions(0)->mutable_node(0)->set_domain("my");
  EXPECT_EQ(RefusalOf(model), "function 'F0' of domain 'my': calls itself");
}

TEST(OnnxFunctionsTest, NestingThroughFunctionsIsLimited) {
  // Each function calls the next one from a graph in a graph.
  ModelProto model = Chain(12, 1);
  for (FunctionProto& function : *model.mutable_functions()) {
    const onnx::NodeProto call = function.node(0);
    onnx::NodeProto& node = *function.mutable_node(0);
    node.Clear();
    node.set_op_type("If");
    node.add_input("v0");
    node.add_output("v1");
    for (const char* name : {"then_branch", "else_branch"}) {
      onnx::AttributeProto& attribute = *node.add_attribute();
      attribute.set_name(name);
      *attribute.mutable_g()->add_node() = call;
      attribute.mutable_g()->mutable_node(0)->set_output(0, "inner");
      attribute.mutable_g()->add_output()->set_name("inner");
    }
  }
  GraphLimits limits;
  limits.max_nesting_depth = 11;
  const absl::Status status = ReadModel(model, limits).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("has 12 levels of nested graphs"));
  limits.max_nesting_depth = 12;
  EXPECT_TRUE(ReadModel(model, limits).ok());
}

TEST(OnnxFunctionsTest, LongPathsAndNamesAreCut) {
  ModelProto model = Chain(40, 1);
  for (FunctionProto& function : *model.mutable_functions()) {
    function.mutable_node(0)->set_name(std::string(400, 'n'));
  }
  const absl::StatusOr<GraphDef> def = ReadModel(model);
  ASSERT_TRUE(def.ok()) << def.status();
  EXPECT_LE(def->nodes[0].name.size(), 200u);
  EXPECT_THAT(def->nodes[0].name, StartsWith("...nnn"));
  // Names of values: cut between characters.
  model = Chain(1, 2);
  std::string name;
  for (int i = 0; i < 100; ++i) name += "\xc3\xa4";
  model.mutable_functions(0)->mutable_node(0)->set_output(0, name);
  model.mutable_functions(0)->mutable_node(1)->set_input(0, name);
  EXPECT_EQ(RefusalOf(model), "");
}

}  // namespace
}  // namespace tensord
