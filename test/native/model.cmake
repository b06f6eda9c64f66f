foreach(name pairing driver backward sites timeline steps loop memory)
  gmt_native_test(model_${name} LIBRARIES gmt_model)
endforeach()
