COMMENT ON TABLE dpquantile.user_key IS
  'One random key with which the user-level aggregates hash persons. It keeps somebody who may choose a '
  'user_id from making it collide with another. No role needs to read it. Partial states with different keys cannot be '
  'combined.';
