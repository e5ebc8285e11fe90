\echo Use "ALTER EXTENSION dpquantile UPDATE TO '0.2.0'" to load this file. \quit
