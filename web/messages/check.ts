import { checkCatalogues, checkUntranslated } from './surfaces.ts'

const problems = [...(await checkCatalogues()), ...(await checkUntranslated())]
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exitCode = 1
}
