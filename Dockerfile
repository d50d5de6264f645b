# tensord as a container image. Targets:
#
#   cpu      the daemon for CPUs, and for Vulkan with drivers that the runtime brings along (the default)
#   vulkan   cpu, and Mesa's Vulkan drivers (AMD, Intel; also the software driver)
#   cuda     cpu, the CUDA backend, and those of NVIDIA's libraries that it opens
#
#   docker build --target cpu -t tensord:cpu .
#   docker build --target cuda -t tensord:cuda .
#
# BINARIES=given takes programs that are already built from build/image/given/ instead of compiling them;
# they must be built on the same Debian (scripts/test_image.sh does so).

ARG DEBIAN=debian:bookworm-slim
# Where nvcc and the libraries for the cuda target come from: any image with CUDA 13 and cuDNN 9 in /usr/local/cuda or in
# /usr/lib/x86_64-linux-gnu. It is never run, so its distribution does not matter: the daemon stays on Debian, with
# the very libraries that it is tested with.
ARG CUDA=nvidia/cuda:13.0.1-cudnn-devel-ubuntu22.04
ARG BINARIES=built

# ---- programs, compiled here
FROM ${DEBIAN} AS build-tools
RUN rm -f /etc/apt/apt.conf.d/docker-clean
COPY scripts/setup.sh /src/scripts/setup.sh
WORKDIR /src
RUN scripts/setup.sh

FROM build-tools AS built
COPY . /src
ARG JOBS=
RUN scripts/image_programs.sh --build --jobs "${JOBS}" /programs

# ---- programs, as given
FROM scratch AS given
COPY build/image/given /programs/

FROM ${BINARIES} AS binaries

# ---- what the cuda target adds: the backend itself and the libraries that it opens when a graph first needs them
FROM ${CUDA} AS cuda-toolkit

FROM build-tools AS cuda-built
COPY --from=cuda-toolkit /usr/local/cuda/ /usr/local/cuda/
COPY . /src
ARG JOBS=
ARG CUDA_ARCHITECTURES=75;80;86;89;90
RUN scripts/image_programs.sh --build --cuda "${CUDA_ARCHITECTURES}" --jobs "${JOBS}" /programs

FROM cuda-toolkit AS cuda-libraries
COPY scripts/image_cuda_libraries.sh /
RUN /image_cuda_libraries.sh /libraries

# ---- the image
FROM ${DEBIAN} AS runtime
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      libdnnl2 libgomp1 libgrpc++1.51 libprometheus-cpp-pull1.0 libprotobuf32 libsmartcols1 libspdlog1.10 libssl3 \
      libvulkan1 libyaml-cpp0.7 \
 && apt-get clean \
 && rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/* /usr/share/gcc/python /usr/share/gdb \
 && find / -xdev -type f -perm /6000 -exec chmod ug-s {} + \
 && useradd --uid 10001 --user-group --no-create-home --home-dir /var/lib/tensord --shell /usr/sbin/nologin tensord \
 && install -d -o tensord -g tensord -m 0750 /var/lib/tensord \
 && ln -s ../lib/tensord/tensord /usr/bin/tensord \
 && ln -s ../lib/tensord/tensordctl /usr/bin/tensordctl
COPY LICENSE deploy/image/NOTICE /usr/share/doc/tensord/
COPY deploy/image/tensord.yaml /etc/tensord/tensord.yaml
COPY models/digits/README.md models/digits/labels.json models/digits/model.onnx models/digits/sample.npy \
  /usr/share/tensord/models/digits/

# By number, so that Kubernetes can see that it is not root's.
USER 10001:10001
# What it writes to with a read-only root: kernels compiled at run time and measurements (with --tuning-dir). Without a
# volume there it writes nothing.
VOLUME /var/lib/tensord
ENV XDG_CACHE_HOME=/var/lib/tensord/cache \
    TENSORD_ADDRESS=127.0.0.1:8500
EXPOSE 8500/tcp 8501/tcp
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["/usr/bin/tensordctl", "health", "--timeout", "4"]
ENTRYPOINT ["/usr/bin/tensord"]
CMD ["--config", "/etc/tensord/tensord.yaml"]
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="tensord" \
      org.opencontainers.image.description="Runs tensor graphs for remote clients, and measures every operator" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="docker.io/library/debian:bookworm-slim"

FROM runtime AS vulkan
USER 0
RUN apt-get update \
 && apt-get install -y --no-install-recommends mesa-vulkan-drivers \
 && apt-get clean \
 && rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/*
USER 10001:10001
COPY --from=binaries /programs/ /usr/lib/tensord/

FROM runtime AS cuda
# What the NVIDIA container runtime makes visible: the driver's compute part, and its Vulkan part.
ENV NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics
COPY --from=cuda-libraries /libraries/ /usr/local/cuda/lib64/
COPY --from=cuda-built /programs/ /usr/lib/tensord/

# The last one is what a build without --target makes.
FROM runtime AS cpu
COPY --from=binaries /programs/ /usr/lib/tensord/
