import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { installPackage } from '#test/deploy/python.ts'

/** Installs schemathesis. @returns the path of the command */
export const installSchemathesis = async (directory: string): Promise<string> => {
  const requirement = 'schemathesis==4.32.5'
  return join(await installPackage({ requirement, purpose: 'schemathesis', directory }), 'schemathesis')
}

/** Findings of one schemathesis run. */
export interface Findings {
  tested: number
  cases: number
  /** Failed checks, each with the operations (`GET /path`) that failed it. */
  failures: { title: string; operations: string[] }[]
  /** Reasons why the run itself did not complete. */
  errors: string[]
  /** Output of the command. */
  output: string
}

/** Findings of a run that did not start. */
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
    // It keeps crashes and a cache in `.schemathesis` of its working directory.
    cwd: dirname(to.report),
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
