import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import * as z from 'zod'
import { digest, type Files, packWheel } from './archives.ts'

/** Fields of the SDK's pyproject.toml. Others are refused, because the wheel would lack them. */
const Project = z.strictObject({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  readme: z.literal('README.md'),
  license: z.string(),
  'requires-python': z.string(),
  dependencies: z.array(z.string()),
  classifiers: z.array(z.string()),
  'optional-dependencies': z.record(z.string(), z.array(z.string())),
})

export interface Wheel {
  name: string
  version: string
  requiresPython: string
  file: string
  content: Uint8Array
}

/**
 * Builds the wheel of a package that is only Python, as its pyproject.toml describes it (PEP 427). The build has Node, and
 * maybe no Python.
 *
 * @param source folder of the package, with its modules below `src`
 * @param licence text of the licence
 */
export const buildWheel = async (source: string, licence: Uint8Array): Promise<Wheel> => {
  const pyproject = parse(await readFile(join(source, 'pyproject.toml'), 'utf8'))
  const project = Project.parse(pyproject.project)
  const { name, version } = project
  const about = `${name.replaceAll('-', '_')}-${version}`
  const files: Record<string, Uint8Array> = await modulesOf(join(source, 'src'))
  files[`${about}.dist-info/METADATA`] = Buffer.from(
    metadata(project, await readFile(join(source, 'README.md'), 'utf8')),
  )
  files[`${about}.dist-info/WHEEL`] = Buffer.from(WHEEL)
  files[`${about}.dist-info/licenses/LICENSE`] = licence
  files[`${about}.dist-info/RECORD`] = Buffer.from(record(files, `${about}.dist-info/RECORD`))
  return {
    name,
    version,
    requiresPython: project['requires-python'],
    file: `${about}-py3-none-any.whl`,
    content: packWheel(files),
  }
}

const modulesOf = async (folder: string): Promise<Record<string, Uint8Array>> => {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = found
    .filter((entry) => entry.isFile() && /\.(py|typed)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
  const read = async (path: string): Promise<[string, Uint8Array]> => [
    path.slice(folder.length + 1).replaceAll('\\', '/'),
    await readFile(path),
  ]
  return Object.fromEntries(await Promise.all(paths.map(read)))
}

const WHEEL = 'Wheel-Version: 1.0\nGenerator: agent-integration-platform\nRoot-Is-Purelib: true\nTag: py3-none-any\n'

const metadata = (project: z.infer<typeof Project>, readme: string): string =>
  [
    'Metadata-Version: 2.4',
    `Name: ${project.name}`,
    `Version: ${project.version}`,
    `Summary: ${project.description}`,
    `License-Expression: ${project.license}`,
    'License-File: LICENSE',
    ...project.classifiers.map((one) => `Classifier: ${one}`),
    `Requires-Python: ${project['requires-python']}`,
    ...project.dependencies.map((one) => `Requires-Dist: ${one}`),
    ...Object.entries(project['optional-dependencies']).flatMap(([extra, needed]) => [
      `Provides-Extra: ${extra}`,
      ...needed.map((one) => `Requires-Dist: ${one}; extra == '${extra}'`),
    ]),
    'Description-Content-Type: text/markdown',
    '',
    readme,
  ].join('\n')

/** Lists the files with their hashes. The list itself has none. */
const record = (files: Files, own: string): string =>
  [
    ...Object.entries(files).map(
      ([path, data]) => `${path},sha256=${digest('sha256', data, 'base64url')},${data.length}`,
    ),
    `${own},,`,
    '',
  ].join('\n')
