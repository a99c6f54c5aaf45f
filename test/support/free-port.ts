/**
 * A port for a program that must be told one.
 * @module
 */

/** Free a moment ago: another process may take it before it is used. */
export function findPort(): string {
  const probe = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const found = String(probe.port)
  void probe.stop(true)
  return found
}
