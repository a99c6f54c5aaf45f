/**
 * Instants in UTC, to the second: the same text for everybody who speaks about one.
 * @module
 */

/** @param of by ISO 8601 */
export function Instant({ of }: { readonly of: string }) {
  const at = new Date(of)
  const text = Number.isNaN(at.getTime()) ? of : at.toISOString()
  return (
    <time dateTime={text} title={of}>
      {text.slice(0, 10)} {text.slice(11, 19)} UTC
    </time>
  )
}
