/**
 * A TCP proxy between one vault and the database that cuts a connection amid its COMMIT.
 *
 * Transactions that only read are left alone: nothing of them can be lost.
 * @module
 */
/** Frozen, both ends stay open and nothing passes: as where a machine is gone. */
type Cut = 'before' | 'after' | 'freeze'

/** Where the database is. */
type Target = { readonly hostname: string; readonly port: number } | { readonly unix: string }

export interface CuttingProxy {
  readonly port: number
  /** The next COMMIT of a transaction that may write is cut. */
  arm(cut: Cut): void
  cuts(): number
  /** Whether all that is sent is swallowed. */
  mute(isMuted: boolean): void
  stop(): void
}

interface Wire {
  /** For the database, and for the vault. */
  readonly waiting: Buffer[]
  readonly back: Buffer[]
  readsOnly: boolean
  isMuted: boolean
  isFrozen: boolean
  server: Bun.Socket<Wire> | undefined
  vault: Bun.Socket<Wire> | undefined
}

const commit = Buffer.from('COMMIT\0')
const readOnly = /BEGIN[^\0]*(READ ONLY|REPEATABLE READ)/i
/** So long that the database has taken the COMMIT before its connection ends. */
const landMs = 30

/** @returns what was not taken, which goes out on `drain` */
function pass(socket: Bun.Socket<Wire> | undefined, waiting: Buffer[], chunk?: Buffer): void {
  if (chunk !== undefined) waiting.push(Buffer.from(chunk))
  while (socket !== undefined && waiting[0] !== undefined) {
    const sent = Math.max(0, socket.write(waiting[0]))
    if (sent < waiting[0].length) {
      waiting[0] = waiting[0].subarray(sent)
      return
    }
    waiting.shift()
  }
}

function endWire(wire: Wire): void {
  if (wire.isFrozen) return
  wire.vault?.terminate()
  wire.server?.terminate()
}

/** What is armed, and which COMMIT it takes. */
function makeCutter() {
  let armed: Cut | undefined
  let cuts = 0
  return {
    arm(cut: Cut): void {
      armed = cut
    },
    cuts: () => cuts,
    takeCommit(wire: Wire, chunk: Buffer): Cut | undefined {
      const text = chunk.toString('latin1')
      if (text.includes('BEGIN')) wire.readsOnly = readOnly.test(text)
      if (armed === undefined || wire.readsOnly || !chunk.includes(commit)) return undefined
      const cut = armed
      armed = undefined
      cuts += 1
      return cut
    },
  }
}

const connect = (wire: Wire, target: Target): Promise<unknown> => {
  const options: Pick<Bun.TCPSocketConnectOptions<Wire>, 'data' | 'socket'> = {
    data: wire,
    socket: {
      open: socket => {
        wire.server = socket
        pass(socket, wire.waiting)
      },
      data: (_, chunk) => {
        if (!wire.isMuted) pass(wire.vault, wire.back, chunk)
      },
      drain: socket => pass(socket, wire.waiting),
      close: () => endWire(wire),
      error: () => endWire(wire),
    },
  }
  const connecting =
    'unix' in target
      ? Bun.connect<Wire>({ ...options, unix: target.unix })
      : Bun.connect<Wire>({ ...options, hostname: target.hostname, port: target.port })
  return connecting.catch(() => endWire(wire))
}

const makeWire = (vault: Bun.Socket<Wire>): Wire => ({
  waiting: [],
  back: [],
  readsOnly: false,
  isMuted: false,
  isFrozen: false,
  server: undefined,
  vault,
})

export function startProxy(target: Target): CuttingProxy {
  const cutter = makeCutter()
  let isMuted = false
  const fromVault = (wire: Wire, chunk: Buffer): void => {
    if (isMuted || wire.isFrozen) return
    const cut = cutter.takeCommit(wire, chunk)
    if (cut === 'before') return endWire(wire)
    if (cut === 'freeze') {
      wire.isFrozen = true
      return
    }
    if (cut === 'after') {
      wire.isMuted = true
      setTimeout(() => endWire(wire), landMs)
    }
    pass(wire.server, wire.waiting, chunk)
  }
  const listener = Bun.listen<Wire>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: socket => {
        socket.data = makeWire(socket)
        void connect(socket.data, target)
      },
      data: (socket, chunk) => fromVault(socket.data, chunk),
      drain: socket => pass(socket, socket.data.back),
      close: socket => endWire(socket.data),
      error: socket => endWire(socket.data),
    },
  })
  return {
    port: listener.port,
    arm: cutter.arm,
    cuts: cutter.cuts,
    mute(muted) {
      isMuted = muted
    },
    stop: () => listener.stop(true),
  }
}
