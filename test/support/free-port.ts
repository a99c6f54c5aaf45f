/**
 * A port for a program that must be told one, or for an address where nobody listens.
 * @module
 */

/** Below those that the system gives to whatever asks for any (ip(7), `ip_local_port_range`). */
const portMin = 20_000
const portMax = 32_000

const pickPort = (): number => portMin + Math.floor(Math.random() * (portMax - portMin))

/** Free a moment ago, and taken since by none that was given just any. */
export function findPort(): string {
  for (;;) {
    const port = pickPort()
    try {
      const probe = Bun.serve({ hostname: '127.0.0.1', port, fetch: () => new Response() })
      void probe.stop(true)
      return String(port)
    } catch {
      // It is taken.
    }
  }
}
