foreach(name pairing driver backward sites library timeline steps loop memory choice lifetimes segments)
  gmt_native_test(model_${name} LIBRARIES gmt_model)
endforeach()
gmt_native_test(model_until LIBRARIES gmt_model gmt_trace)
