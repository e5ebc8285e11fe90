# The official image of PostgreSQL with dpquantile preloaded.
#   docker build -t dpquantile .
#   docker build -t dpquantile:18 --build-arg PG_MAJOR=18 .
ARG PG_MAJOR=17

FROM postgres:${PG_MAJOR}-trixie AS build
# A library that was built with the headers of a newer minor release may not load. If apt has no headers of the image's
# release any more, the build stops here: add --pull for a newer image.
RUN apt-get update && \
    server_version=$(dpkg-query --show --showformat='${Version}' "postgresql-$PG_MAJOR") && \
    apt-get install -y --no-install-recommends g++ make libboost-dev libssl-dev \
      "postgresql-server-dev-$PG_MAJOR=$server_version" && \
    rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY . .
RUN export PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" && \
    make -j"$(nproc)" && \
    make install DESTDIR=/installed

FROM postgres:${PG_MAJOR}-trixie
COPY LICENSE /usr/share/doc/dpquantile/LICENSE
COPY --from=build /installed /
CMD ["postgres", "-c", "shared_preload_libraries=dpquantile"]
