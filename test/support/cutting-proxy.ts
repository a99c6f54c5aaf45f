/**
 * A TCP proxy between one vault and the database that cuts a connection amid its COMMIT.
 *
 * Read-only transactions pass: they have nothing to lose.
 * @module
 */
/**
 * Moment of the cut: before the database has the COMMIT; right after it was sent, so that its
 * outcome is unknown; or after it is done, in place of the reply. `freeze` keeps both ends open and
 * passes nothing any more, as if a machine were gone.
 */
type Cut = 'before' | 'at' | 'after' | 'freeze'

/** Address of the database. */
type Target = { readonly hostname: string; readonly port: number } | { readonly unix: string }

export interface CuttingProxy {
  readonly port: number
  /** Cuts the next COMMIT of a transaction that may write. */
  arm(cut: Cut): void
  cuts(): number
  /** COMMITs whose reply arrived and was not passed on. */
  landed(): number
  /** True swallows everything that is sent. */
  mute(isMuted: boolean): void
  stop(): void
}

interface Wire {
  /** Bytes for the database, and for the vault. */
  readonly waiting: Buffer[]
  readonly back: Buffer[]
  readsOnly: boolean
  isMuted: boolean
  isFrozen: boolean
  /** End of the latest piece, since a word may be split between two. */
  tail: string
  /** Name under which COMMIT is prepared on this connection. */
  commitName: string | undefined
  server: Bun.Socket<Wire> | undefined
  vault: Bun.Socket<Wire> | undefined
}

/** Source: PostgreSQL, "Message Formats": Parse gives a statement its name, Bind names it. */
const preparing = /P[^]{4}([^\0]+)\0COMMIT\0/
/** A COMMIT of the simple protocol. */
const asked = /Q[^]{4}COMMIT\0/
/** Maximum length of text that may be split between pieces. */
const tailBytes = 40
const readOnly = /BEGIN[^\0]*READ ONLY/i
const ended = /(?:COMMIT|ROLLBACK)\0/
/** Time for a COMMIT to get its reply; then the database is gone, too. */
const landMsMax = 5_000

/** @returns the bytes that were not taken, which are sent on `drain` */
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

/** Applies the armed cut to the first COMMIT that it fits. */
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
      const whole = wire.tail + text
      wire.commitName ??= preparing.exec(whole)?.[1]
      const bound = wire.commitName === undefined ? undefined : `\0${wire.commitName}\0`
      const at = bound === undefined ? -1 : whole.lastIndexOf(bound)
      const isBound = at >= 0 && at + (bound?.length ?? 0) > wire.tail.length
      const isCommit = isBound || asked.test(text)
      wire.tail = whole.slice(-tailBytes)
      if (armed === undefined || wire.readsOnly || !isCommit) return undefined
      const cut = armed
      armed = undefined
      cuts += 1
      return cut
    },
  }
}

function connect(wire: Wire, target: Target, onReply: (text: string) => void): Promise<unknown> {
  const options: Pick<Bun.TCPSocketConnectOptions<Wire>, 'data' | 'socket'> = {
    data: wire,
    socket: {
      open: socket => {
        wire.server = socket
        pass(socket, wire.waiting)
      },
      data: (_, chunk) => {
        if (wire.isMuted) onReply(chunk.toString('latin1'))
        else pass(wire.vault, wire.back, chunk)
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
  tail: '',
  commitName: undefined,
  server: undefined,
  vault,
})

function cutWire(wire: Wire, cut: Cut, chunk: Buffer): void {
  if (cut === 'freeze') {
    wire.isFrozen = true
    return
  }
  if (cut === 'before') return endWire(wire)
  pass(wire.server, wire.waiting, chunk)
  if (cut === 'at') {
    // Written bytes go out before the end.
    wire.server?.end()
    wire.vault?.terminate()
    return
  }
  wire.isMuted = true
  setTimeout(() => endWire(wire), landMsMax)
}

export function startProxy(target: Target): CuttingProxy {
  const cutter = makeCutter()
  let isMuted = false
  let landed = 0
  const fromVault = (wire: Wire, chunk: Buffer): void => {
    if (isMuted || wire.isFrozen) return
    const cut = cutter.takeCommit(wire, chunk)
    if (cut !== undefined) return cutWire(wire, cut, chunk)
    pass(wire.server, wire.waiting, chunk)
  }
  const listener = Bun.listen<Wire>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: socket => {
        socket.data = makeWire(socket)
        const wire = socket.data
        void connect(wire, target, text => {
          if (text.includes('COMMIT\0')) landed += 1
          if (ended.test(text)) endWire(wire)
        })
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
    landed: () => landed,
    mute(muted) {
      isMuted = muted
    },
    stop: () => listener.stop(true),
  }
}
