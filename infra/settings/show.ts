import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readCommandLine } from '../operator/command.ts'
import { settingsText, withSettings } from './list.ts'

const HELP = `npm run settings [-- --markdown]

Prints every setting of a stage: what it takes, its default, what it does and what it costs. They are given as -c name=value to
npm run deploy, or stand in cdk.json under context.stages.<stage>.

  --markdown  write them into docs/deploy.md
  --help      this`

const DOCUMENT = fileURLToPath(new URL('../../docs/deploy.md', import.meta.url))

const { values } = readCommandLine(HELP, { options: { markdown: { type: 'boolean' } } })
if (values.markdown) writeFileSync(DOCUMENT, withSettings(readFileSync(DOCUMENT, 'utf8')))
else console.log(settingsText())
