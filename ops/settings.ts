import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { settingsText, withSettings } from '#infra/settings/list.ts'
import { readCommandLine } from './command.ts'

const HELP = `npm run settings [-- --markdown]

Prints every setting of a stage, with its values, default, effect and cost. Set them with -c name=value for npm run deploy, or in
cdk.json under context.stages.<stage>.

  --markdown  write them into docs/deploy.md and the README
  --help      show this help`

const DOCUMENTS = ['../docs/deploy.md', '../README.md'].map((path) => fileURLToPath(new URL(path, import.meta.url)))

const { values } = readCommandLine(HELP, { options: { markdown: { type: 'boolean' } } })
if (values.markdown) for (const page of DOCUMENTS) writeFileSync(page, withSettings(readFileSync(page, 'utf8')))
else console.log(settingsText())
