/**
 * Files that are embedded unchanged.
 * @module
 */
declare module '*/card.css' {
  const text: string
  export default text
}
