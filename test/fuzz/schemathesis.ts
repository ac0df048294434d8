import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { installPackage } from '#test/deploy/python.ts'

/** @returns the path of the command */
export const installSchemathesis = async (directory: string): Promise<string> => {
  const requirement = 'schemathesis==4.32.5'
  return join(await installPackage({ requirement, purpose: 'schemathesis', directory }), 'schemathesis')
}

/** What one run of schemathesis found. */
export interface Findings {
  tested: number
  cases: number
  /** What is wrong, and the operations (`GET /path`) where it is. */
  failures: { title: string; operations: string[] }[]
  /** Why the run itself did not come to its end, if so. */
  errors: string[]
  /** What it printed. */
  output: string
}

/** What is found where nothing was run. */
export const NOTHING: Findings = { tested: 0, cases: 0, failures: [], errors: [], output: '' }

/** The parts of its JSON report that are read here (schemathesis, "Reporting"). */
interface Report {
  complete: boolean
  operations: { tested: number }
  test_cases: { generated: number }
  failures: { title: string; operations: string[] }[]
  errors: { title?: string; operations?: string[] }[]
}

/** Runs schemathesis to its end. */
export const runSchemathesis = async (
  command: string,
  to: { document: string; configuration: string; report: string },
): Promise<Findings> => {
  const child = spawn(command, ['--config-file', to.configuration, 'run', to.document, '--no-color'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PYTHONUNBUFFERED: '1', NO_PROXY: '*' },
  })
  const [output, complaints] = await Promise.all([text(child.stdout), text(child.stderr)])
  const report = await readFile(to.report, 'utf8').then(
    (json) => JSON.parse(json) as Report,
    () => undefined,
  )
  const printed = output + complaints
  if (!report?.complete) return { ...NOTHING, errors: ['it did not end'], output: printed }
  return {
    tested: report.operations.tested,
    cases: report.test_cases.generated,
    failures: report.failures.map(({ title, operations }) => ({ title, operations })),
    errors: report.errors.map(
      (error) => `${error.title ?? JSON.stringify(error)} ${error.operations?.join(', ') ?? ''}`,
    ),
    output: printed,
  }
}
