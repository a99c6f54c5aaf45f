/**
 * The theme of VitePress, with what diagrams and wide tables need.
 * @module
 */
import theme from 'vitepress/theme'
import './coffer.css'

export default theme
