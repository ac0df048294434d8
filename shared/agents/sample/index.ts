export { installSampleAgent } from './install.ts'
