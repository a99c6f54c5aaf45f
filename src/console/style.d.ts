/**
 * Files that are embedded unchanged.
 * @module
 */
declare module '*/console.css' {
  const text: string
  export default text
}
