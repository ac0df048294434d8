import path from 'node:path'
import { BUNDLES, ROOT } from '#local/prepare.ts'

/** Output of the global setup: the bundles and the tests' cloud assembly. */
export const ASSEMBLY = { cdkOut: path.join(ROOT, 'dist', 'e2e'), bundles: BUNDLES }
