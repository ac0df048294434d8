import type { BuiltFiles } from '#shared/http/built-files.ts'
import { escapeHtml } from '#shared/kernel/escape-html.ts'

/** An archive in the build's table (`packages-assets/packages-files.json`). Digests are those of the file. */
export interface Archive {
  file: string
  size: number
  /** In hex. */
  sha1: string
  /** In hex. */
  sha256: string
  /** In base64. */
  sha512: string
}

/** A version of an npm package. The manifest is its package.json. */
export interface NpmArchive extends Archive {
  manifest: { name: string; version: string; description: string } & Record<string, unknown>
}

/** A version of a Python package. */
export interface PythonArchive extends Archive {
  name: string
  version: string
  requiresPython: string
}

export interface PackageTable {
  /** Scope of the npm packages. */
  scope: string
  /** Time of all files. */
  time: string
  npm: NpmArchive[]
  python: PythonArchive[]
}

export const readTable = async (files: BuiltFiles): Promise<PackageTable> =>
  JSON.parse(await files.text('packages-files.json'))

export const registryOf = (baseUrl: string): string => `${baseUrl}/packages/npm/`
export const indexOf = (baseUrl: string): string => `${baseUrl}/packages/simple/`

/** Names a version of a package. */
export const keyOfNpm = ({ manifest: { name, version } }: NpmArchive): string => `${name}@${version}`
export const keyOfPython = ({ name, version }: PythonArchive): string => `${name}@${version}`

// Lock files keep the URLs, so each names the bytes, not only the version.
const tarballUrl = (baseUrl: string, { manifest: { name }, sha256, file }: NpmArchive): string =>
  `${registryOf(baseUrl)}${name}/-/${sha256}/${file}`

const wheelUrl = (baseUrl: string, { sha256, file }: PythonArchive): string =>
  `${baseUrl}/packages/python/${sha256}/${file}`

const integrityOf = ({ sha512 }: Archive): string => `sha512-${sha512}`

const distOf = (baseUrl: string, version: NpmArchive) => ({
  tarball: tarballUrl(baseUrl, version),
  shasum: version.sha1,
  integrity: integrityOf(version),
})

/** Fields of a package.json that npm's abbreviated form keeps. */
const INSTALLED = ['name', 'version', 'dependencies', 'bin', 'engines'] as const

/**
 * Returns what an npm registry says about a package: all of it, or in the form for installations, which leaves out what only people
 * read. It keeps the times, by which package managers keep off versions that are too new.
 *
 * @param versions at least one. The last one is the latest: that of the build, also if it replaced a newer one
 */
export const packumentOf = (
  baseUrl: string,
  versions: readonly NpmArchive[],
  time: string,
  form: 'full' | 'abbreviated',
): object => {
  const latest = versions.at(-1)
  if (latest === undefined) throw new Error('a package without versions')
  const { name, description, license } = latest.manifest
  return {
    name,
    ...(form === 'full' && { _id: name, description, license, readme: '' }),
    modified: time,
    'dist-tags': { latest: latest.manifest.version },
    time: Object.fromEntries([
      ['created', time],
      ['modified', time],
      ...versions.map(({ manifest }) => [manifest.version, time]),
    ]),
    versions: Object.fromEntries(
      versions.map((version) => {
        const { manifest } = version
        const shown =
          form === 'full'
            ? { ...manifest, _id: keyOfNpm(version) }
            : Object.fromEntries(INSTALLED.flatMap((key) => (key in manifest ? [[key, manifest[key]]] : [])))
        return [manifest.version, { ...shown, dist: distOf(baseUrl, version) }]
      }),
    ),
  }
}

/** Media types of a Python index (PEP 691). */
export const SIMPLE_JSON = 'application/vnd.pypi.simple.v1+json'

const META = { 'api-version': '1.1' }

/** Lists the index's projects (PEP 691). */
export const simpleProjects = (names: readonly string[]): object => ({
  meta: META,
  projects: names.map((name) => ({ name })),
})

/** Lists the files of a project (PEP 691, PEP 700). */
export const simpleFiles = (
  baseUrl: string,
  name: string,
  versions: readonly PythonArchive[],
  time: string,
): object => ({
  meta: META,
  name,
  versions: versions.map(({ version }) => version),
  files: versions.map((version) => ({
    filename: version.file,
    url: wheelUrl(baseUrl, version),
    hashes: { sha256: version.sha256 },
    'requires-python': version.requiresPython,
    size: version.size,
    'upload-time': time.replace('.000', ''),
    yanked: false,
  })),
})

const page = (title: string, links: readonly string[]): string =>
  [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><meta name="pypi:repository-version" content="1.1"><title>${title}</title></head>`,
    '<body>',
    `<h1>${title}</h1>`,
    ...links,
    '</body>',
    '</html>',
    '',
  ].join('\n')

/** Lists the index's projects as a page (PEP 503). */
export const simpleProjectsPage = (baseUrl: string, names: readonly string[]): string =>
  page(
    'Packages',
    names.map((name) => `<a href="${indexOf(baseUrl)}${name}/">${name}</a>`),
  )

/** Lists the files of a project as a page, each with its hash (PEP 503). */
export const simpleFilesPage = (baseUrl: string, name: string, versions: readonly PythonArchive[]): string =>
  page(
    name,
    versions.map(
      (version) =>
        `<a href="${wheelUrl(baseUrl, version)}#sha256=${version.sha256}" data-requires-python="${escapeHtml(version.requiresPython)}">${version.file}</a>`,
    ),
  )

/** Reduces a project's name to the form in which all its spellings are equal (PEP 503). */
export const normalized = (name: string): string => name.toLowerCase().replaceAll(/[-_.]+/g, '-')

/** Describes the packages of a build, for `GET /packages/`. */
export const describePackages = (baseUrl: string, { npm, python }: PackageTable) => {
  const shared = (archive: Archive) => ({
    size: archive.size,
    sha256: archive.sha256,
    integrity: integrityOf(archive),
  })
  return [
    ...npm.map((version) => ({
      name: version.manifest.name,
      kind: 'npm' as const,
      version: version.manifest.version,
      url: tarballUrl(baseUrl, version),
      ...shared(version),
    })),
    ...python.map((version) => ({
      name: version.name,
      kind: 'python' as const,
      version: version.version,
      url: wheelUrl(baseUrl, version),
      ...shared(version),
    })),
  ]
}

export type PackageView = ReturnType<typeof describePackages>[number]
