import fc from 'fast-check'
import { SEED, sampleSize } from './sampling.ts'

fc.configureGlobal({ seed: SEED, numRuns: sampleSize(100) })
