// What stands behind Parquet, in a bundle of its own: recording and viewing need no library for it.
export { allocationRow, allocationsChunks } from './parquet/allocations';
export { parquetChunks } from './parquet/parquetFile';
export { rankTables, stepRows } from './parquet/rankTables';
export { TABLES } from './parquet/tables';
