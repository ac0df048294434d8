export { deniedTools } from './denied-tools.ts'
export { TOOL_NAMES } from './names.ts'
