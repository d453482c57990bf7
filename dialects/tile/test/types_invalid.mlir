// RUN: k3-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{view: extent 1 must be static (only extent 0 may be '?')}}
func.func private @f(!tile.view<4x?xf32>)

// -----
// expected-error @below {{view: extent 1 must be positive (got 0)}}
func.func private @f(!tile.view<4x0xf32>)

// -----
// expected-error @below {{view: rank is out of range (got 7, expected 1 to 6)}}
func.func private @f(!tile.view<1x2x3x4x5x6x7xf32>)

// -----
// expected-error @below {{view: rank is out of range (got 0, expected 1 to 6)}}
func.func private @f(!tile.view<f32>)

// -----
// expected-error @below {{view: element type is not storable (got 'f16', expected f32, bf16, i32 or i8)}}
func.func private @f(!tile.view<4xf16>)

// -----
// expected-error @below {{view: element type is not storable (got 'ui8', expected f32, bf16, i32 or i8)}}
func.func private @f(!tile.view<4xui8>)

// -----
// expected-error @below {{tile: rank is out of range (got 5, expected 1 to 4)}}
func.func private @f(!tile.tile<1x2x3x4x5xf32>)

// -----
// expected-error @below {{tile: extent 0 must be positive (got 0)}}
func.func private @f(!tile.tile<0x4xf32>)

// -----
// expected-error @below {{tile: element type is not computable (got 'i64', expected f32, bf16, i32, i8 or i1)}}
func.func private @f(!tile.tile<4xi64>)

// -----
// expected-error @below {{tile: no such space (got 'global', expected fragment or shared)}}
func.func private @f(!tile.tile<4xf32, global>)

// -----
// expected-error @below {{swizzle: no such period (got 48 bytes, expected 32, 64 or 128)}}
func.func private @f(!tile.tile<4x64xf32, shared, #tile.swizzle<48>>)

// -----
// expected-error @below {{tile: a swizzle permutes shared memory (got space fragment, expected shared)}}
func.func private @f(!tile.tile<4x64xf32, #tile.swizzle<128>>)

// -----
// expected-error @below {{tile: rows do not fill the swizzle (got 96 bytes a row, expected a multiple of 128)}}
func.func private @f(!tile.tile<4x48xbf16, shared, #tile.swizzle<128>>)

// -----
// expected-error @below {{mma_layout: extents must be positive (got 16, 0, 16)}}
func.func private @f(!tile.tile<16x8xf32, #tile.mma_layout<16, 0, 16, c>>)

// -----
// expected-error @below {{expected ::k3::tile::MmaOperand to be one of: a, b, c}}
// expected-error @below {{failed to parse Tile_MmaLayoutAttr parameter 'operand'}}
func.func private @f(!tile.tile<16x8xf32, #tile.mma_layout<16, 8, 16, d>>)

// -----
// expected-error @below {{tile: mma_layout spreads a fragment over threads (got space shared, expected fragment)}}
func.func private @f(!tile.tile<16x8xf32, shared, #tile.mma_layout<16, 8, 16, c>>)

// -----
// expected-error @below {{tile: unknown layout (got 7 : i64, expected #tile.swizzle or #tile.mma_layout)}}
func.func private @f(!tile.tile<16x8xf32, 7>)
