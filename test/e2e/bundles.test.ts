import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { modulesOf, REQUEST_UNITS, unitNames } from '#functions/units.ts'
import type { BundleReport } from '#infra/bundle.ts'
import { ROOT } from '#local/prepare.ts'
import { ASSEMBLY } from '#testkit/assembly.ts'

const reports: BundleReport[] = JSON.parse(readFileSync(path.join(ROOT, 'dist/bundles.json'), 'utf8'))
const reportOf = (name: string) => reports.find((report) => report.name === name) as BundleReport

/** Requires each of a folder's files in a process of its own, with nothing in its environment. */
const requireAll = (folder: string, files: string[]) => {
  const code = `for (const file of ${JSON.stringify(files)}) require(file)`
  return spawnSync(process.execPath, ['--eval', code], { cwd: folder, env: {}, encoding: 'utf8' })
}

describe('the function', () => {
  test.each(Object.keys(REQUEST_UNITS))('%s reads no resource before one is called', (name) => {
    const { modules, later } = reportOf(name)
    expect(modules.filter((module) => module.startsWith('functions/'))).toEqual([])
    const resources = modulesOf(name).map((module) => `functions/${module}.ts`)
    expect(later.map(({ module }) => module)).toEqual(expect.arrayContaining(resources))
  })

  test.each(unitNames())('%s has all that it ever requires in its own folder', (name) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'deployed-'))
    try {
      cpSync(path.join(ASSEMBLY.bundles, name), folder, { recursive: true })
      const files = readdirSync(folder).filter((file) => file.endsWith('.cjs'))
      const known = [reportOf(name).file, ...reportOf(name).later.map(({ file }) => file)]
      expect(files).toEqual(expect.arrayContaining(known.map((file) => path.basename(file))))
      const { status, stderr } = requireAll(
        folder,
        files.map((file) => path.join(folder, file)),
      )
      expect(stderr).toBe('')
      expect(status).toBe(0)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
