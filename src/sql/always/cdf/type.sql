COMMENT ON TYPE @extschema@.dp_cdf IS
  'A released private CDF, the answer of dp_cdf(): the curve, the number of rows, the domain and the public '
  'law of the noise. Its text form is a JSON object; it casts to and from jsonb. Storing it, copying it and '
  'asking it any number of questions cost no budget.';
COMMENT ON CAST (@extschema@.dp_cdf AS jsonb) IS 'A released CDF as a JSON object. Costs no budget.';
COMMENT ON CAST (jsonb AS @extschema@.dp_cdf) IS 'A released CDF from its JSON object. Costs no budget.';

COMMENT ON FUNCTION dpquantile.cdf_in(cstring) IS 'Text form of the type dp_cdf, a JSON object.';
COMMENT ON FUNCTION dpquantile.cdf_out(@extschema@.dp_cdf) IS 'Text form of the type dp_cdf, a JSON object.';
COMMENT ON FUNCTION dpquantile.cdf_recv(internal) IS 'Binary form of the type dp_cdf.';
COMMENT ON FUNCTION dpquantile.cdf_send(@extschema@.dp_cdf) IS 'Binary form of the type dp_cdf.';
