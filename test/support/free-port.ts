/**
 * A port for a program that must be given one, or for an address where nobody listens.
 * @module
 */

/** Below the ports that the system assigns itself (ip(7), `ip_local_port_range`). */
const portMin = 20_000
const portMax = 32_000

const pickPort = (): number => portMin + Math.floor(Math.random() * (portMax - portMin))

/** Free a moment ago, and never assigned by the system. */
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
