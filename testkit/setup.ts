import fc from 'fast-check'
import { SEED } from './sampling.ts'

fc.configureGlobal({ seed: SEED })
