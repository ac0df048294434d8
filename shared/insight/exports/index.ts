export { DATASETS, type DatasetName } from './datasets.ts'
export { END, exportCsv, INCOMPLETE } from './export.ts'
