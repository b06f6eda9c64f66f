gmt_native_tests(model LIBRARIES gmt_model gmt_trace
  FILES pairing driver backward sites library timeline steps loop memory choice lifetimes segments until)
