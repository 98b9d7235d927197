// Products of int8 rows with scales, portable reference: contract §5, §7.
// Accumulators: dot_tile.h. Rows of w are read once for every TTI_TILE_ROWS rows of x.
#include "product.h"
#include "dot_tile.h"

#if TTI_TILE_COLS != TTI_COLUMNS
#error "a tile is finished by one tti_columns_t"
#endif

static void tile(const tti_product_t *p, int row, int rows, int o) {
    int32_t acc[TTI_TILE_ROWS][TTI_TILE_COLS];
    tti_columns_t columns;
    int cols = tti_min(p->o - o, TTI_TILE_COLS);
    tti_take_columns(&columns, p, o, cols);
    tti_dot_tile(acc, p->x + (size_t)row * p->x_stride, p->x_stride, rows,
                 p->w + (size_t)o * p->w_stride, p->w_stride, cols, p->k);
    float *out = p->out + (size_t)row * p->out_stride + o;
    const float *sx = p->sx + (size_t)row * p->sx_stride;
    for (int r = 0; r < rows; r++, out += p->out_stride, sx += p->sx_stride) {
        float sums[TTI_COLUMNS];
        for (int c = 0; c < TTI_COLUMNS; c++) {
            sums[c] = (float)acc[r][c];
        }
        tti_finish_columns(out, sums, *sx, &columns, cols, p->gate != NULL);
    }
}

void tti_product_ref(const tti_product_t *p) {
    for (int row = 0; row < p->t; row += TTI_TILE_ROWS) {
        int rows = tti_min(p->t - row, TTI_TILE_ROWS);
        for (int o = 0; o < p->o; o += TTI_TILE_COLS) {
            tile(p, row, rows, o);
        }
    }
}
