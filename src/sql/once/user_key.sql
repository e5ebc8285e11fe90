-- A dump does not include the key: CREATE EXTENSION makes a new one in the restored database.
CREATE TABLE dpquantile.user_key (
  key bytea NOT NULL CHECK (octet_length(key) = 16)
);

-- Without a replica identity a publication of this table would forbid changes of the key. A primary key would show the key
-- in errors.
ALTER TABLE dpquantile.user_key REPLICA IDENTITY FULL;
INSERT INTO dpquantile.user_key
  SELECT substr(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 1, 16);
