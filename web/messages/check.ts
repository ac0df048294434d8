import { checkCatalogues } from './surfaces.ts'

const problems = await checkCatalogues()
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exitCode = 1
}
