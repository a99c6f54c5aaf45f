/**
 * Files of the documentation page: the bundler embeds them and gives their path.
 * @module
 */
declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const path: string
  export default path
}
declare module 'swagger-ui-dist/swagger-ui.css' {
  const path: string
  export default path
}
declare module '*/reference-page.css' {
  const text: string
  export default text
}
