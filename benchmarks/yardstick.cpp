// The plain C++ loop that grid.py measures numba_cpu.py against: the same work for p = 1, the same arrays out.
//
// Written as a competent C++ author plainly would: one graph after the other, the columns of X that it uses, CSR, a
// compile-time number of columns where it is small, each k2 sorted by insertion from the order of the k2 before (std::sort
// at the first k2 and where much has moved), union-find with early end. No trick that depends on what the steps have in common.
//
//     g++ -O3 -march=native -std=c++17 -shared -fPIC yardstick.cpp -o yardstick.so

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

struct Batch {
    int64_t n_graphs;
    const int64_t *node_ptr, *indptr, *edge_ptr, *n_columns;
    const int32_t *indices, *edges, *tie_rank;
    const double *weights;
};

struct Scratch {
    std::vector<double> Y, S, heights, inverse;
    std::vector<int32_t> order, final_order, parent, near;
    std::vector<uint8_t> closes;
};

struct Graph {
    int64_t node, edge;  // its first node and first edge
    int n, m, columns;
};

int32_t root(int32_t *parent, int32_t node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
}

// T = (D + I)^-1 (A + I) Z
void wl_step(const Batch &b, const Graph &g, const double *inverse, const double *Z, double *T) {
    const int C = g.columns;
    for (int v = 0; v < g.n; ++v) {
        double *t = T + v * C;
        for (int c = 0; c < C; ++c) t[c] = Z[v * C + c];
        for (int64_t a = b.indptr[g.node + v]; a < b.indptr[g.node + v + 1]; ++a) {
            const double *z = Z + (b.indices[a] - g.node) * C;
            for (int c = 0; c < C; ++c) t[c] += b.weights[a] * z[c];
        }
        for (int c = 0; c < C; ++c) t[c] *= inverse[v];
    }
}

// T = (A + I) (D + I)^-1 Y; COLUMNS = 0 stands for any number
template <int COLUMNS>
void walk_step(const Batch &b, const Graph &g, const int32_t *near, const double *inverse, const double *Y, double *S, double *T) {
    const int C = COLUMNS ? COLUMNS : g.columns;
    for (int v = 0; v < g.n; ++v)
        for (int c = 0; c < C; ++c) S[v * C + c] = inverse[v] * Y[v * C + c];
    const int64_t *indptr = b.indptr + g.node;
    const int64_t first = indptr[0];
    const double *weights = b.weights + first;
    for (int v = 0; v < g.n; ++v) {
        double *t = T + v * C;
        double sum[COLUMNS ? COLUMNS : 1];
        if (COLUMNS) {
            for (int c = 0; c < C; ++c) sum[c] = S[v * C + c];
            for (int64_t a = indptr[v] - first; a < indptr[v + 1] - first; ++a)
                for (int c = 0; c < C; ++c) sum[c] += weights[a] * S[near[a] * C + c];
            for (int c = 0; c < C; ++c) t[c] = sum[c];
        } else {
            for (int c = 0; c < C; ++c) t[c] = S[v * C + c];
            for (int64_t a = indptr[v] - first; a < indptr[v + 1] - first; ++a)
                for (int c = 0; c < C; ++c) t[c] += weights[a] * S[near[a] * C + c];
        }
    }
}

// All heights, and the largest norm of a node.
template <int COLUMNS>
double edge_heights(const Batch &b, const Graph &g, const double *Y, double *h) {
    const int C = COLUMNS ? COLUMNS : g.columns;
    const int32_t *edges = b.edges + 2 * g.edge;
    for (int e = 0; e < g.m; ++e) {
        const double *u = Y + (edges[2 * e] - g.node) * C, *v = Y + (edges[2 * e + 1] - g.node) * C;
        double total = 0;
        for (int c = 0; c < C; ++c) total += std::fabs(u[c] - v[c]);
        h[e] = total;
    }
    double largest = 0;
    for (int v = 0; v < g.n; ++v) {
        double norm = 0;
        for (int c = 0; c < C; ++c) norm += std::fabs(Y[v * C + c]);
        largest = std::max(largest, norm);
    }
    return largest;
}

template <typename Less>
bool insertion_sort(int32_t *first, int32_t *last, int64_t budget, Less less) {
    for (int32_t *i = first + 1; i < last; ++i) {
        const int32_t x = *i;
        int32_t *j = i;
        for (; j > first && less(x, j[-1]); --j) *j = j[-1];
        *j = x;
        budget -= i - j;
        if (budget < 0) return false;
    }
    return true;
}

template <typename Less>
void sort(int32_t *first, int32_t *last, bool nearly_sorted, Less less) {
    if (last - first <= 16) {
        insertion_sort(first, last, INT64_MAX, less);
        return;
    }
    if (nearly_sorted && insertion_sort(first, last, 8 * (last - first), less)) return;
    std::sort(first, last, less);
}

// `order` by height, then groups of ties within `tolerance` by rank, into `final_order`.
void tie_order(const Graph &g, const int32_t *rank, const double *h, double tolerance, bool nearly_sorted, int32_t *order, int32_t *final_order) {
    sort(order, order + g.m, nearly_sorted, [h](int32_t x, int32_t y) { return h[x] < h[y]; });
    std::copy(order, order + g.m, final_order);
    int first = 0;
    for (int i = 1; i <= g.m; ++i) {
        if (i < g.m && h[order[i]] - h[order[i - 1]] <= tolerance) continue;
        if (i - first > 1)
            sort(final_order + first, final_order + i, false, [h, rank](int32_t x, int32_t y) {
                if (rank[x] != rank[y]) return rank[x] < rank[y];
                return h[x] != h[y] ? h[x] < h[y] : x < y;
            });
        first = i;
    }
}

void closing_edges(const Batch &b, const Graph &g, const int32_t *order, int trees, int32_t *parent, uint8_t *closes) {
    const int32_t *edges = b.edges + 2 * g.edge;
    for (int v = 0; v < g.n; ++v) parent[v] = v;
    for (int i = 0; i < g.m; ++i) {
        const int32_t e = order[i];
        if (trees == 0) {
            closes[e] = 1;
            continue;
        }
        const int32_t u = root(parent, edges[2 * e] - int32_t(g.node)), v = root(parent, edges[2 * e + 1] - int32_t(g.node));
        closes[e] = u == v;
        parent[u] = v;
        trees -= u != v;
    }
}

template <int COLUMNS>
void walk_graph(const Batch &b, const Graph &g, const double *Z, int n_k2, double tie_tol, Scratch &s, double *heights, int32_t *order, uint8_t *closes) {
    const int64_t n_edges = b.edge_ptr[b.n_graphs], first = b.indptr[g.node];
    for (int64_t a = first; a < b.indptr[g.node + g.n]; ++a) s.near[a - first] = b.indices[a] - int32_t(g.node);
    std::copy(Z, Z + g.n * g.columns, s.Y.data());
    for (int v = 0; v < g.n; ++v) s.parent[v] = v;
    int trees = 0;
    for (int e = 0; e < g.m; ++e) {
        const int32_t *ends = b.edges + 2 * (g.edge + e);
        const int32_t u = root(s.parent.data(), ends[0] - int32_t(g.node)), v = root(s.parent.data(), ends[1] - int32_t(g.node));
        s.parent[u] = v;
        trees += u != v;
        s.order[e] = e;
    }
    for (int k = 0; k < n_k2; ++k) {
        if (k) {
            walk_step<COLUMNS>(b, g, s.near.data(), s.inverse.data(), s.Y.data(), s.S.data(), s.heights.data());
            std::swap(s.Y, s.heights);
        }
        const int64_t base = k * n_edges + g.edge;
        const double norm = edge_heights<COLUMNS>(b, g, s.Y.data(), heights + base);
        tie_order(g, b.tie_rank + g.edge, heights + base, tie_tol * norm, k > 0, s.order.data(), s.final_order.data());
        closing_edges(b, g, s.final_order.data(), trees, s.parent.data(), closes + base);
        for (int i = 0; i < g.m; ++i) order[base + i] = int32_t(g.edge) + s.final_order[i];
    }
}

}  // namespace

// One row of the grid: Z (of each graph its n x columns block, one after the other) goes `k1_steps` steps on, then k2 = 0 .. n_k2 - 1.
extern "C" void yardstick_row(
    int64_t n_graphs, const int64_t *node_ptr, const int64_t *indptr, const int32_t *indices, const double *weights,
    const int64_t *edge_ptr, const int32_t *edges, const int64_t *n_columns, const int32_t *tie_rank,
    int64_t k1_steps, int64_t n_k2, double tie_tol, double *Z, double *heights, int32_t *order, uint8_t *closes) {
    const Batch b{n_graphs, node_ptr, indptr, edge_ptr, n_columns, indices, edges, tie_rank, weights};
    int64_t most_values = 0, most_nodes = 0, most_edges = 0;
    for (int64_t g = 0; g < n_graphs; ++g) {
        const int64_t n = node_ptr[g + 1] - node_ptr[g];
        most_nodes = std::max(most_nodes, n);
        most_values = std::max(most_values, n * n_columns[g]);
        most_edges = std::max(most_edges, edge_ptr[g + 1] - edge_ptr[g]);
    }
    Scratch s;
    for (auto *values : {&s.Y, &s.S, &s.heights}) values->resize(most_values);
    s.inverse.resize(most_nodes);
    s.parent.resize(most_nodes);
    s.order.resize(most_edges);
    s.final_order.resize(most_edges);
    s.near.resize(2 * most_edges);
    for (int64_t i = 0; i < n_graphs; ++i) {
        const Graph g{node_ptr[i], edge_ptr[i], int(node_ptr[i + 1] - node_ptr[i]), int(edge_ptr[i + 1] - edge_ptr[i]), int(n_columns[i])};
        for (int v = 0; v < g.n; ++v) {
            double degree = 0;
            for (int64_t a = indptr[g.node + v]; a < indptr[g.node + v + 1]; ++a) degree += weights[a];
            s.inverse[v] = 1 / (degree + 1);
        }
        for (int64_t step = 0; step < k1_steps; ++step) {
            wl_step(b, g, s.inverse.data(), Z, s.S.data());
            std::copy(s.S.begin(), s.S.begin() + g.n * g.columns, Z);
        }
        auto *walk = &walk_graph<0>;
        switch (g.columns) {
            case 1: walk = &walk_graph<1>; break;
            case 2: walk = &walk_graph<2>; break;
            case 3: walk = &walk_graph<3>; break;
            case 4: walk = &walk_graph<4>; break;
        }
        walk(b, g, Z, int(n_k2), tie_tol, s, heights, order, closes);
        Z += g.n * g.columns;
    }
}
