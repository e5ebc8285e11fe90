COMMENT ON TABLE dpquantile.user_key IS
  'One random key with which the user-level aggregates hash users. It keeps a person who may choose the name of a '
  'user from making it collide with another. No role needs to read it. Partial states with different keys cannot be '
  'combined.';
