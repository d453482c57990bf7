// RUN: k3-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect -o %t

// expected-error @below {{'plan.symbol' op attribute 'upper' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
plan.symbol @T <= 0

// -----

plan.program rank 0 events 0 {
  // expected-error @below {{@a: wrong alignment (got 48, expected a power of two of at least 64)}}
  plan.arena @a scratch size 64 align 48
}

// -----

plan.program rank 0 events 0 {
  // expected-error @below {{cannot stand in a plan.program}}
  plan.symbol @T <= 4
}

// -----

plan.program rank 0 events 0 {
  // expected-error @below {{arena @none: not found in this program}}
  plan.buffer @x in @none at 0 size 4 : f32 [1]
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a scratch size 64 align 64
  plan.buffer @x in @a at 0 size 4 : f32 [1]
  // expected-error @below {{arena @x: is of another kind (got plan.buffer, expected plan.arena)}}
  plan.buffer @y in @x at 0 size 4 : f32 [1]
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a scratch size 128 align 64
  // expected-error @below {{@x: offset is not aligned (got 4, expected a multiple of 64)}}
  plan.buffer @x in @a at 4 size 4 : f32 [1]
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a scratch size 128 align 64
  // expected-error @below {{@x: ends outside its arena (got 68 bytes at offset 64, expected within 128)}}
  plan.buffer @x in @a at 64 size 68 : f32 [17]
}

// -----

plan.symbol @T <= 17
plan.program rank 0 events 0 {
  plan.arena @a scratch size 128 align 64
  // expected-error @below {{@x: is smaller than its shape (got 64 bytes, expected at least 68)}}
  plan.buffer @x in @a at 0 size 64 : f32 [T]
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a scratch size 128 align 64
  // expected-error @below {{extent 0: symbol 'T' is not declared by a plan.symbol}}
  plan.buffer @x in @a at 0 size 64 : f32 [T]
}

// -----

plan.symbol @T <= 9223372036854775807
plan.program rank 0 events 0 {
  plan.arena @a scratch size 128 align 64
  // expected-error @below {{extent 0: #plan.expr<mul(T, 2)> has no non-negative 64-bit value at the symbols' upper bounds}}
  plan.buffer @x in @a at 0 size 64 : f32 [mul(T, 2)]
}

// -----

plan.symbol @T <= 9223372036854775807
plan.program rank 0 events 0 {
  plan.arena @a scratch size 128 align 64
  // expected-error @below {{@x: its shape overflows 63 bits}}
  plan.buffer @x in @a at 0 size 64 : f32 [T]
}

// -----

plan.symbol @T <= 4
plan.program rank 0 events 0 {
  plan.arena @a scratch size 128 align 64
  // expected-error @below {{extent 0: #plan.expr<ceildiv(1, T)> has no non-negative 64-bit value at the symbols' upper bounds}}
  plan.buffer @x in @a at 0 size 64 : f32 [ceildiv(1, T)]
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a scratch size 128 align 64
  // expected-error @below {{expression: constants are not negative (got -1)}}
  plan.buffer @x in @a at 0 size 64 : f32 [-1]
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a scratch size 128 align 64
  // expected-error @below {{expression: 'const' is no operation; quote the name of a symbol}}
  plan.buffer @x in @a at 0 size 64 : f32 [const]
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a scratch size 64 align 64
  plan.buffer @x in @a at 0 size 64 : f32 [16]
  // expected-error @below {{'s': lies in the wrong arena (got class scratch, expected state)}}
  plan.state conv_state "s" in @x slot [2, 8] bytes 64
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a state size 64 align 64
  plan.buffer @x in @a at 0 size 64 : f32 [1, 16]
  // expected-error @below {{'s': wrong rank of a slot (got 1, expected 2)}}
  plan.state conv_state "s" in @x slot [16] bytes 64
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a state size 64 align 64
  plan.buffer @x in @a at 0 size 64 : f32 [1, 16]
  // expected-error @below {{'s': wrong order of axes (got '', expected kv or vk)}}
  plan.state kda_state "s" in @x slot [1, 4, 4] bytes 64
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a state size 64 align 64
  plan.buffer @x in @a at 0 size 64 : f32 [1, 16]
  // expected-error @below {{'s': a slot is smaller than its shape (got 60 bytes, expected at least 64)}}
  plan.state conv_state "s" in @x slot [2, 8] bytes 60
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a state size 64 align 64
  plan.buffer @x in @a at 0 size 64 : f32 [1, 16]
  plan.state conv_state "s" in @x slot [2, 8] bytes 64
  // expected-error @below {{'s': the name is taken (got it twice, expected unique names)}}
  plan.state conv_state "s" in @x slot [2, 8] bytes 64
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a weights size 64 align 64
  plan.buffer @x in @a at 0 size 64 : f32 [16]
  // expected-error @below {{'w': its pieces do not fill it (got 15 elements, expected 16)}}
  plan.weight "w" in @x from [#plan.piece<"t", rows = 3, cols = 5, src_begin = 0, src_stride = 5, dst_begin = 0, dst_stride = 5>]
}

// -----

// expected-error @below {{piece of "t": rows must be positive (got 0)}}
"test.op"() {p = #plan.piece<"t", rows = 0, cols = 5, src_begin = 0, src_stride = 5, dst_begin = 0, dst_stride = 5>} : () -> ()

// -----

// expected-error @below {{piece of "t": dst_begin must not be negative (got -1)}}
"test.op"() {p = #plan.piece<"t", rows = 1, cols = 5, src_begin = 0, src_stride = 5, dst_begin = -1, dst_stride = 5>} : () -> ()

// -----

// expected-error @below {{piece of "t": 2 tensors need {} in the name for their index}}
"test.op"() {p = #plan.piece<"t", rows = 1, cols = 5, src_begin = 0, src_stride = 5, dst_begin = 0, dst_stride = 5, count = 2>} : () -> ()

// -----

// expected-error @below {{address: the offset in @x is negative (got -4)}}
"test.op"() {p = #plan.at<@x, -4>} : () -> ()

// -----

plan.program rank 0 events 0 {
  // expected-error @below {{parameter: unknown kind (got 'tensor', expected buffer or scalar)}}
  plan.kernel @k params (tensor)
}

// -----

plan.program rank 0 events 0 {
  // expected-error @below {{@k: block needs three positive extents}}
  plan.kernel @k params () {block = array<i64: 128, 0, 1>}
}

// -----

plan.program rank 0 events 0 {
  // expected-error @below {{'e': a decode entry needs a bucket of at least 1 (got 0)}}
  plan.entry decode "e" symbols [] inputs [] outputs [] {
  }
}

// -----

plan.program rank 0 events 0 {
  // expected-error @below {{'e': only a decode entry has a bucket (got 4)}}
  plan.entry prefill "e" bucket 4 symbols [] inputs [] outputs [] {
  }
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a io size 64 align 64
  plan.buffer @x in @a at 0 size 64 : f32 [16]
  // expected-error @below {{'e': "ids" is bound twice (expected unique names)}}
  plan.entry generic "e" symbols [] inputs ["ids" = @x, "ids" = @x] outputs [] {
  }
}

// -----

plan.program rank 0 events 0 {
  // expected-error @below {{'e': symbol 'T' is not declared by a plan.symbol}}
  plan.entry generic "e" symbols [@T] inputs [] outputs [] {
  }
}

// -----

plan.program rank 0 events 0 {
  // expected-error @below {{buffer @ids: not found in this program}}
  plan.entry generic "e" symbols [] inputs ["ids" = @ids] outputs [] {
  }
}

// -----

plan.program rank 0 events 0 {
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{is no command of the host}}
    "test.op"() : () -> ()
  }
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a io size 64 align 64
  plan.buffer @x in @a at 0 size 64 : f32 [16]
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{'h': stands before every command (expected a command before it)}}
    plan.tap "h" = @x
  }
}

// -----

plan.program rank 0 events 0 {
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{kernel @k: not found in this program}}
    plan.launch @k grid [1, 1, 1] args ()
  }
}

// -----

plan.program rank 0 events 0 {
  plan.kernel @k params ()
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{the grid has a wrong number of axes (got 2, expected 3)}}
    plan.launch @k grid [1, 1] args ()
  }
}

// -----

plan.symbol @T <= 4
plan.program rank 0 events 0 {
  plan.kernel @k params ()
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{the grid: depends on symbol 'T', which its entry is not given}}
    plan.launch @k grid [T, 1, 1] args ()
  }
}

// -----

plan.program rank 0 events 0 {
  plan.kernel @k params (scalar)
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{kernel @k: wrong number of arguments (got 0, expected 1)}}
    plan.launch @k grid [1, 1, 1] args ()
  }
}

// -----

plan.program rank 0 events 0 {
  plan.kernel @k params (buffer)
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{kernel @k: argument 0 is of the wrong kind (got scalar, expected buffer)}}
    plan.launch @k grid [1, 1, 1] args (5)
  }
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a io size 64 align 64
  plan.buffer @x in @a at 0 size 64 : f32 [16]
  plan.kernel @k params (buffer)
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{argument 0: begins outside @x (got offset 64, expected less than 64)}}
    plan.launch @k grid [1, 1, 1] args (@x + 64)
  }
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a io size 128 align 64
  plan.buffer @x in @a at 0 size 64 : f32 [16]
  plan.buffer @y in @a at 64 size 64 : f32 [16]
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{the destination: ends outside @y (got 64 bytes at offset 4, expected within 64)}}
    plan.copy @x to @y + 4 bytes 64
  }
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a io size 128 align 64
  plan.buffer @x in @a at 0 size 64 : f32 [16]
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{source and destination overlap (got 32 bytes from 0 to 16 of @a)}}
    plan.copy @x to @x + 16 bytes 32
  }
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a io size 128 align 64
  plan.buffer @x in @a at 0 size 64 : f32 [16]
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{the value is no byte (got 256, expected 0 to 255)}}
    plan.fill @x with 256 bytes 32
  }
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a io size 128 align 64
  plan.buffer @x in @a at 0 size 64 : f32 [16]
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{unknown axis (got 'dp', expected tp, ep or pp)}}
    plan.collective all_reduce @x to @x over "dp" count 16 : f32
  }
}

// -----

plan.program rank 0 events 0 {
  plan.arena @a io size 128 align 64
  plan.buffer @x in @a at 0 size 64 : f32 [16]
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{the source: ends outside @x (got 68 bytes at offset 0, expected within 64)}}
    plan.collective all_reduce @x to @x over "tp" count 17 : f32
  }
}

// -----

plan.program rank 0 events 2 {
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{no such event (got 2, expected less than 2)}}
    plan.record 2
  }
}

// -----

plan.program rank 0 events 0 {
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{no such event (got 0, expected less than 0)}}
    plan.wait 0
  }
}

// -----

plan.program rank 0 events 0 {
  plan.entry generic "e" symbols [] inputs [] outputs [] {
    // expected-error @below {{buffer @x: not found in this program}}
    plan.host_call "sample" args (@x)
  }
}
