import type { StoredResponse } from '#shared/http/idempotency.ts'
import { plainPage } from '#shared/http/plain-page.ts'
import { indexOf, type PackageView, registryOf } from './packages.ts'

interface About {
  title: string
  text: string
  commands: readonly string[]
}

/** Returns the title, description and install commands of a package. */
const aboutOf = (baseUrl: string, scope: string, { name, kind, url, sha256 }: PackageView): About => {
  const setting = `--${scope}:registry=${registryOf(baseUrl)}`
  if (kind === 'python') {
    return {
      title: 'SDK for Python',
      text: 'Needs Python 3.10 or later. The address names the file and its hash, so nothing else is installed under its name.',
      commands: [`pip install '${name} @ ${url}#sha256=${sha256}'`],
    }
  }
  return name === `${scope}/cli`
    ? {
        title: 'Command-line tool',
        text: 'Needs Node 20.12 or later. Its command is aip. In place of npm, you can use pnpm or Bun as below, but neither yarn global nor bunx: these ask the public registry for it.',
        commands: [
          `npm install --global ${name} ${setting}`,
          `pnpm add --global ${name} ${setting}`,
          `bun add --global --registry=${registryOf(baseUrl)} ${name}`,
        ],
      }
    : { title: 'SDK for TypeScript', text: 'Needs Node 20 or later.', commands: [`npm install ${name} ${setting}`] }
}

const section = (baseUrl: string, scope: string, one: PackageView): string => {
  const { title, text, commands } = aboutOf(baseUrl, scope, one)
  return `<h2>${title}</h2>
<p>${text}</p>
<pre tabindex="0"><code>${commands.join('\n')}</code></pre>
<dl>
<dt>Package</dt><dd><a href="${one.url}">${one.name} ${one.version}</a>, ${Math.ceil(one.size / 1_000)} KB</dd>
<dt>SHA-256</dt><dd><code>${one.sha256}</code></dd>
<dt>Integrity</dt><dd><code>${one.integrity}</code></dd>
</dl>`
}

/**
 * Renders the page of the packages, with the commands that install them from here. Names and addresses come from the build and the
 * stage's settings, and contain nothing that means something in HTML.
 */
export const packagesPage = (baseUrl: string, scope: string, packages: readonly PackageView[]): StoredResponse =>
  plainPage({
    status: 200,
    language: 'en',
    title: 'Packages',
    headers: { 'cache-control': 'no-cache', vary: 'accept' },
    content: `<p>This platform serves its own packages. Install them from here: on public registries, somebody else may own the names.</p>
${packages.map((one) => section(baseUrl, scope, one)).join('\n')}
<h2>With a file</h2>
<p>In a project, npm, pnpm, Yarn 1 and Bun read the registry of the scope from <code>.npmrc</code>:</p>
<pre tabindex="0"><code>${scope}:registry=${registryOf(baseUrl)}</code></pre>
<p>Newer versions of Yarn read it from <code>.yarnrc.yml</code>:</p>
<pre tabindex="0"><code>npmScopes:
  ${scope.slice(1)}:
    npmRegistryServer: "${registryOf(baseUrl)}"</code></pre>
<p>An index for pip and uv is at <code>${indexOf(baseUrl)}</code>. Never add it to pip as an extra index: pip would take the newest version of a name from any of them.</p>
<p>The guides start at <a href="${baseUrl}/docs">${baseUrl}/docs</a>.</p>`,
  })
