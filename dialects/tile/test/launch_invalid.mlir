// RUN: k3-opt %s -verify-diagnostics -split-input-file

func.func @entry(%n: index) {
  // expected-error @below {{kernel @missing: not found in this module}}
  tile.launch @missing grid(%n, %n, %n) ins()
  return
}

// -----
func.func @entry(%n: index) {
  // expected-error @below {{kernel @entry: is no kernel (got func.func, expected tile.kernel)}}
  tile.launch @entry grid(%n, %n, %n) ins()
  return
}

// -----
tile.kernel @k(%x: !tile.view<?x4xf32>, %n: index, %y: !tile.view<?x4xf32>) {
  tile.return
}
func.func @entry(%x: tensor<?x4xf32>, %n: index) {
  // expected-error @below {{kernel @k: wrong number of arguments (got 1 inputs and 1 results, expected 3 together)}}
  %y = tile.launch @k grid(%n, %n, %n) ins(%x : tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----
tile.kernel @k(%x: !tile.view<?x4xf32>) {
  tile.return
}
func.func @entry(%x: tensor<?x5xf32>, %n: index) {
  // expected-error @below {{kernel @k, parameter 0: type does not fit (got 'tensor<?x5xf32>', expected '!tile.view<?x4xf32>')}}
  tile.launch @k grid(%n, %n, %n) ins(%x : tensor<?x5xf32>)
  return
}

// -----
tile.kernel @k(%x: !tile.view<?x4xf32>) {
  tile.return
}
func.func @entry(%n: index) {
  // expected-error @below {{kernel @k, parameter 0: type does not fit (got 'tensor<?x4xbf16>', expected '!tile.view<?x4xf32>')}}
  %y = tile.launch @k grid(%n, %n, %n) ins() -> tensor<?x4xbf16>
  return
}

// -----
tile.kernel @k(%x: !tile.view<8x4xf32>) {
  tile.return
}
func.func @entry(%x: tensor<?x4xf32>, %n: index) {
  // expected-error @below {{kernel @k, parameter 0: type does not fit (got 'tensor<?x4xf32>', expected '!tile.view<8x4xf32>')}}
  tile.launch @k grid(%n, %n, %n) ins(%x : tensor<?x4xf32>)
  return
}

// -----
tile.kernel @k(%n: index) {
  tile.return
}
func.func @entry(%x: tensor<?x4xf32>, %n: index) {
  // expected-error @below {{kernel @k, parameter 0: type does not fit (got 'tensor<?x4xf32>', expected 'index')}}
  tile.launch @k grid(%n, %n, %n) ins(%x : tensor<?x4xf32>)
  return
}

// -----
tile.kernel @k(%x: !tile.view<?x4xf32>) {
  tile.return
}
func.func @entry(%n: index) {
  // expected-error @below {{kernel @k, parameter 0: type does not fit (got 'index', expected '!tile.view<?x4xf32>')}}
  tile.launch @k grid(%n, %n, %n) ins(%n : index)
  return
}

// -----
tile.kernel @k(%n: index) {
  tile.return
}
func.func @entry(%state: memref<4xf32>, %n: index) {
  // A value of a type that tile does not know stands for a view.
  // expected-error @below {{kernel @k, parameter 0: type does not fit (got 'memref<4xf32>', expected 'index')}}
  tile.launch @k grid(%n, %n, %n) ins(%state : memref<4xf32>)
  return
}

// -----
tile.kernel @k(%x: !tile.view<?x4xf32>) {
  tile.return
}
func.func @entry(%n: index) {
  // expected-error @below {{result 0: must be a ranked tensor (got 'index')}}
  %y = tile.launch @k grid(%n, %n, %n) ins() -> index
  return
}
