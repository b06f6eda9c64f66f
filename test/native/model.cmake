foreach(name pairing driver backward sites timeline steps loop)
  gmt_native_test(model_${name} LIBRARIES gmt_model)
endforeach()
