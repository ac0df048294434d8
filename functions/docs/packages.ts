import * as z from 'zod'
import { type BuiltFiles, builtFolders, openBuiltFiles } from '#shared/http/built-files.ts'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'
import { withEntityTag } from '#shared/http/entity-tag.ts'
import { wantsPage } from '#shared/http/error-page.ts'
import type { RawResponse } from '#shared/http/response.ts'
import { fail } from '#shared/kernel/errors.ts'
import { DEFAULT_SCOPE, PYTHON_NAME } from '#shared/kernel/package-names.ts'
import type { ObjectStore } from '#shared/kernel/ports/objects.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { openPackageHistory } from './support/package-history.ts'
import {
  type Archive,
  describePackages,
  indexOf,
  normalized,
  packumentOf,
  registryOf,
  SIMPLE_JSON,
  simpleFiles,
  simpleFilesPage,
  simpleProjects,
  simpleProjectsPage,
} from './support/packages.ts'
import { packagesPage } from './support/packages-page.ts'

const PackagesSchema = () =>
  z
    .object({
      registry: z.url().meta({ description: 'npm registry of the scope.' }),
      index: z.url().meta({ description: 'Index for pip and uv.' }),
      packages: z.array(
        z.object({
          name: z.string().meta({ example: `${DEFAULT_SCOPE}/cli` }),
          kind: z.enum(['npm', 'python']),
          version: z.string().meta({ description: 'The version that was built with the platform.', example: '1.0.0' }),
          url: z.url().meta({ description: 'URL of the file.' }),
          size: z.number().int().meta({ description: 'Bytes.', example: 94_246 }),
          sha256: z.string().meta({ description: 'SHA-256 of the file, in hex.' }),
          integrity: z.string().meta({ description: 'SHA-512 of the file, in the form of lock files of npm.' }),
        }),
      ),
    })
    .meta({ id: 'Packages' })

const Meta = () => z.object({ 'api-version': z.string().meta({ example: '1.1' }) })
const ProjectName = () => z.string().meta({ example: PYTHON_NAME })

const ProjectSchema = () =>
  z.object({
    meta: Meta(),
    name: ProjectName(),
    versions: z.array(z.string().meta({ example: '1.0.0' })),
    files: z.array(
      z.object({
        filename: z.string().meta({ example: 'agent_integration_platform-1.0.0-py3-none-any.whl' }),
        url: z.url(),
        hashes: z.object({ sha256: z.string() }),
        'requires-python': z.string().meta({ example: '>=3.10' }),
        size: z.number().int().meta({ example: 32_307 }),
        'upload-time': z.string().meta({ example: '1985-10-26T08:15:00Z' }),
        yanked: z.boolean(),
      }),
    ),
  })

/** Asked for again each time, so that a new version is found at once. */
const LISTED = { 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff', vary: 'accept' }

/** A version's file may be another one after the next deployment, unless its digest is part of the URL. */
const FILE = { 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' }
const IMMUTABLE = { ...FILE, 'cache-control': 'public, max-age=31536000, immutable' }

const DIGEST = /^[0-9a-f]{64}$/
const FILE_NAME = /^[a-z\d][\w.-]*\.(tgz|whl)$/

const ABBREVIATED = 'application/vnd.npm.install-v1+json'

/** Package managers send what they like. `waits`: files are bytes, which the gateway passes on only in a stream. */
const about = {
  group: 'docs',
  method: 'GET',
  caller: 'none',
  lenient: true,
  conditional: true,
  waits: true,
  needs: ['packages:keep'],
} as const

/** Arguments of every handler, in addition to its path parameters. */
interface Asked {
  request: { headers: Record<string, string> }
  work: { objects: ObjectStore; settings: { baseUrl: string } }
}

/** Serves the packages that developers install, as an npm registry and a Python index, from files that were built ahead of time. */
export const packageEndpoints = (files: BuiltFiles): Endpoint[] => {
  const history = openPackageHistory(files)

  const serve = (headers: Record<string, string>, type: string, text: string): RawResponse =>
    withEntityTag(headers, sha256(text), { ...LISTED, 'content-type': type }, text)

  const serveFile = async (
    { request, work }: Asked,
    archive: Pick<Archive, 'sha256' | 'file'> | undefined,
    own: Record<string, string>,
  ): Promise<RawResponse> => {
    const bytes = archive && (await history.bytes(work.objects, archive))
    if (!bytes) throw fail('not_found', { message: 'No file has this name.', fix: 'See /packages.' })
    return withEntityTag(request.headers, archive.sha256, { ...own, 'content-type': 'application/octet-stream' }, bytes)
  }

  /** Serves a file that a description named, whether it's of this build or of an earlier one. */
  const serveDigest = (asked: Asked, sha256: string, file: string): Promise<RawResponse> =>
    serveFile(asked, DIGEST.test(sha256) && FILE_NAME.test(file) ? { sha256, file } : undefined, IMMUTABLE)

  const packument = async ({ request: { headers }, work }: Asked, name: string): Promise<RawResponse> => {
    const { npm, time } = await history.all(work.objects)
    const versions = npm.filter(({ manifest }) => manifest.name === name)
    if (versions.length === 0)
      throw fail('not_found', { message: 'This registry doesn’t have the package.', fix: 'See /packages.' })
    const isAbbreviated = headers.accept?.includes(ABBREVIATED) === true
    const form = isAbbreviated ? 'abbreviated' : 'full'
    const text = JSON.stringify(packumentOf(work.settings.baseUrl, versions, time, form))
    return serve(headers, isAbbreviated ? ABBREVIATED : 'application/json; charset=utf-8', text)
  }

  return [
    defineEndpoint({
      ...about,
      id: 'docs.packages.read',
      path: '/packages',
      isFolder: true,
      summary: 'Get the platform’s packages',
      description:
        'The command-line tool and the SDKs, with their hashes. Returns a page with the commands that install them if ' +
        '`Accept` starts with `text/html`, as in browsers.',
      produces: ['text/html', 'application/json'],
      response: PackagesSchema,
      handler: async ({ request: { headers }, work: { settings } }): Promise<RawResponse> => {
        const { baseUrl } = settings
        const table = await history.own()
        const packages = describePackages(baseUrl, table)
        if (wantsPage(headers)) {
          const { headers: own, body } = packagesPage(baseUrl, table.scope, packages)
          return withEntityTag(headers, sha256(body), own, body)
        }
        const value = { registry: registryOf(baseUrl), index: indexOf(baseUrl), packages }
        return serve(headers, 'application/json; charset=utf-8', JSON.stringify(value))
      },
    }),
    defineEndpoint({
      ...about,
      id: 'docs.packages.npmName',
      path: '/packages/npm/{name}',
      params: { name: 'text' },
      summary: 'Get a package of the npm registry',
      description:
        'The package’s versions as npm’s registry describes them, with the integrity of each file. The name is encoded: ' +
        `\`${encodeURIComponent(`${DEFAULT_SCOPE}/cli`)}\`.`,
      produces: ['application/json', ABBREVIATED],
      example: {},
      errors: ['not_found'],
      handler: ({ params, ...asked }) => packument(asked, params.name),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.packages.npmScoped',
      path: '/packages/npm/{scope}/{name}',
      params: { scope: 'text', name: 'text' },
      summary: 'Get a package of the npm registry by scope and name',
      description: 'The same, for clients that don’t encode the name.',
      produces: ['application/json', ABBREVIATED],
      example: {},
      errors: ['not_found'],
      handler: ({ params: { scope, name }, ...asked }) => packument(asked, `${scope}/${name}`),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.packages.npmFile',
      path: '/packages/npm/{scope}/{name}/-/{file}',
      params: { scope: 'text', name: 'text', file: 'text' },
      summary: 'Get the file of a version of the npm registry',
      produces: 'application/octet-stream',
      errors: ['not_found'],
      handler: async ({ params: { scope, name, file }, ...asked }) => {
        const { npm } = await history.all(asked.work.objects)
        const found = npm.find((one) => one.manifest.name === `${scope}/${name}` && one.file === file)
        return serveFile(asked, found, FILE)
      },
    }),
    defineEndpoint({
      ...about,
      id: 'docs.packages.npmDigest',
      path: '/packages/npm/{scope}/{name}/-/{sha256}/{file}',
      params: { scope: 'text', name: 'text', sha256: 'text', file: 'text' },
      summary: 'Get a file of the npm registry',
      description: 'The URL in a package’s description. It always leads to the same bytes.',
      produces: 'application/octet-stream',
      errors: ['not_found'],
      handler: ({ params: { sha256, file }, ...asked }) => serveDigest(asked, sha256, file),
    }),
    defineEndpoint({
      ...about,
      id: 'docs.packages.simple',
      path: '/packages/simple',
      isFolder: true,
      summary: 'List the projects of the Python index',
      description: 'An index for pip and uv, as a page (PEP 503) or as JSON (PEP 691).',
      produces: ['text/html', SIMPLE_JSON],
      response: () => z.object({ meta: Meta(), projects: z.array(z.object({ name: ProjectName() })) }),
      handler: async ({ request: { headers }, work: { objects, settings } }) => {
        const { python } = await history.all(objects)
        const names = [...new Set(python.map(({ name }) => name))]
        return headers.accept?.includes(SIMPLE_JSON)
          ? serve(headers, SIMPLE_JSON, JSON.stringify(simpleProjects(names)))
          : serve(headers, 'text/html; charset=utf-8', simpleProjectsPage(settings.baseUrl, names))
      },
    }),
    defineEndpoint({
      ...about,
      id: 'docs.packages.simpleProject',
      path: '/packages/simple/{project}',
      isFolder: true,
      params: { project: 'text' },
      summary: 'List the files of a project of the Python index',
      description: `Each with its SHA-256. The project is \`${PYTHON_NAME}\`.`,
      produces: ['text/html', SIMPLE_JSON],
      response: ProjectSchema,
      errors: ['not_found'],
      handler: async ({ params, request: { headers }, work: { objects, settings } }) => {
        const { python, time } = await history.all(objects)
        const name = normalized(params.project)
        const versions = python.filter((one) => one.name === name)
        if (versions.length === 0)
          throw fail('not_found', { message: 'This index doesn’t have the project.', fix: 'See /packages.' })
        return headers.accept?.includes(SIMPLE_JSON)
          ? serve(headers, SIMPLE_JSON, JSON.stringify(simpleFiles(settings.baseUrl, name, versions, time)))
          : serve(headers, 'text/html; charset=utf-8', simpleFilesPage(settings.baseUrl, name, versions))
      },
    }),
    defineEndpoint({
      ...about,
      id: 'docs.packages.pythonFile',
      path: '/packages/python/{file}',
      params: { file: 'text' },
      summary: 'Get the file of a version of the Python index',
      produces: 'application/octet-stream',
      errors: ['not_found'],
      handler: async ({ params, ...asked }) => {
        const { python } = await history.all(asked.work.objects)
        return serveFile(
          asked,
          python.find(({ file }) => file === params.file),
          FILE,
        )
      },
    }),
    defineEndpoint({
      ...about,
      id: 'docs.packages.pythonDigest',
      path: '/packages/python/{sha256}/{file}',
      params: { sha256: 'text', file: 'text' },
      summary: 'Get a file of the Python index',
      description: 'The URL in a project’s list. It always leads to the same bytes.',
      produces: 'application/octet-stream',
      errors: ['not_found'],
      handler: ({ params: { sha256, file }, ...asked }) => serveDigest(asked, sha256, file),
    }),
  ]
}

export const endpoints = packageEndpoints(openBuiltFiles(builtFolders('packages-assets')))
