import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const SOURCES = join(import.meta.dirname, '../examples/sdk')

/** A sample file for developers. `sdk-examples.json` lists all of them. */
export interface SdkExample {
  name: string
  language: string
  description: string
  contentType: string
  /** File name in the table's folder. */
  file: string
}

const PYTHON = { language: 'python', contentType: 'text/x-python; charset=utf-8' }
const TYPESCRIPT = { language: 'typescript', contentType: 'text/x-typescript; charset=utf-8' }
const JSON_DATA = { language: 'json', contentType: 'application/json; charset=utf-8' }

const AGENT = 'An agent that verifies the signature and answers immediately, or accepts the run and completes it later.'
const RECEIVER = 'A webhook receiver that verifies the signature and handles each event once.'
const INSTALLATION = 'An installation with OAuth and PKCE, from consent to a refreshed access token.'

/**
 * The four samples of the contract (contract/apps-and-manifests.md#samples), the same in TypeScript, and test vectors for
 * verifiers.
 */
const EXAMPLES: Omit<SdkExample, 'file'>[] = [
  { name: 'main.py', description: AGENT, ...PYTHON },
  { name: 'callback.py', description: RECEIVER, ...PYTHON },
  { name: 'install.py', description: INSTALLATION, ...PYTHON },
  { name: 'afai.agent.json', description: 'The manifest of the sample agent.', ...JSON_DATA },
  { name: 'main.ts', description: AGENT, ...TYPESCRIPT },
  { name: 'callback.ts', description: RECEIVER, ...TYPESCRIPT },
  { name: 'install.ts', description: INSTALLATION, ...TYPESCRIPT },
  { name: 'vectors.json', description: 'Test vectors for verifiers of the platform’s signatures.', ...JSON_DATA },
]

/** Copies the samples of `examples/sdk` to the pages function's folder and writes their table. */
export const buildSdkExamples = async (outDir: string): Promise<void> => {
  const examples: SdkExample[] = EXAMPLES.map((example) => ({ ...example, file: `sdk-${example.name}` }))
  await Promise.all(examples.map(({ name, file }) => copyFile(join(SOURCES, name), join(outDir, file))))
  await writeFile(join(outDir, 'sdk-examples.json'), `${JSON.stringify({ examples }, null, 2)}\n`)
}
