/**
 * Files that are embedded as they are.
 * @module
 */
declare module '*/card.css' {
  const text: string
  export default text
}
