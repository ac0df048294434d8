import { settingsText } from '#infra/settings/list.ts'
import { readCommandLine } from './command.ts'

const HELP = `npm run settings

Prints every setting of a stage, with its values, default, effect and cost. Set them with -c name=value for npm run deploy, or in
cdk.json under context.stages.<stage>.

  --help  shows this help`

readCommandLine(HELP, {})
console.log(settingsText())
