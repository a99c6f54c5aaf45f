/**
 * Theme of VitePress, with styles for diagrams and wide tables.
 * @module
 */
import theme from 'vitepress/theme'
import './coffer.css'

export default theme
