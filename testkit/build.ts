import { prepare } from '#local/prepare.ts'
import { ASSEMBLY } from './assembly.ts'

// Builds what the tests read. Their global setup finds it current, and builds only when tests run by themselves.
await prepare({ cdkOut: ASSEMBLY.cdkOut })
