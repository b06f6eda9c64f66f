# CMake generated Testfile for 
# Source directory: /work/main/native/uprobe
# Build directory: /work/main/build/attach/native/uprobe
# 
# This file includes the relevant testing commands required for 
# testing this directory and lists subdirectories to be tested as well.
