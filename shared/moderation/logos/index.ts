export { fetchLogos } from './fetch.ts'
